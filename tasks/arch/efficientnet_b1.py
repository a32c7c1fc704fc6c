"""EfficientNet-B1 without squeeze and excitation: seven inverted bottlenecks.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
SIDE = 240
CLASSES = 1000
# channels before and after, stride, expansion
STEPS = [(32, 16, 1, 1), (16, 24, 2, 6), (24, 40, 2, 6), (40, 80, 2, 6), (80, 112, 1, 6), (112, 192, 2, 6),
         (192, 320, 1, 6)]


def bottleneck(before, after, stride, expansion):
    width = before * expansion
    return nn.Sequential(
        nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6(),
        nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False), nn.BatchNorm2d(width),
        nn.ReLU6(), nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after))


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        for number, step in enumerate(STEPS):
            setattr(self, f"mbconv{number + 1}", bottleneck(*step))
        self.conv2 = nn.Conv2d(320, 1280, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for number in range(len(STEPS)):
            x = getattr(self, f"mbconv{number + 1}")(x)
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [CLASSES]
