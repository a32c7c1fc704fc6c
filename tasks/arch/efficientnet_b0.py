"""EfficientNet-B0 without squeeze and excitation: thirteen inverted bottlenecks.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
CLASSES = 1000
# channels before and after, kernel, stride, expansion
STEPS = [(32, 16, 3, 1, 1), (16, 24, 3, 2, 6), (24, 24, 3, 1, 6), (24, 40, 5, 2, 6), (40, 40, 5, 1, 6),
         (40, 80, 3, 2, 6), (80, 80, 3, 1, 6), (80, 112, 5, 1, 6), (112, 112, 5, 1, 6),
         (112, 192, 5, 2, 6), (192, 192, 5, 1, 6), (192, 192, 5, 1, 6), (192, 320, 3, 1, 6)]


class Bottleneck(nn.Module):
    def __init__(self, before, after, kernel, stride, expansion):
        super().__init__()
        width = before * expansion
        self.adds = stride == 1 and before == after
        if expansion != 1:
            self.expand_conv = nn.Sequential(
                nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6())
        else:
            self.expand_conv = nn.Identity()
        self.depthwise_conv = nn.Sequential(
            nn.Conv2d(width, width, kernel, stride, (kernel - 1) // 2, groups=width, bias=False),
            nn.BatchNorm2d(width), nn.ReLU6())
        self.project_conv = nn.Sequential(
            nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.project_conv(self.depthwise_conv(self.expand_conv(x)))
        return y + x if self.adds else y


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.blocks = nn.Sequential(*[Bottleneck(*step) for step in STEPS])
        self.conv2 = nn.Conv2d(320, 1280, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, classes)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x))))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, 224, 224)]


def get_init_inputs():
    return [CLASSES]
