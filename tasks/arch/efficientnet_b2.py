"""EfficientNet-B2 as MultiKernelBench has it: the squeezed path replaces the image.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CLASSES = 1000
# channels before and after, stride, expansion
STEPS = [(32, 96, 1, 3), (96, 144, 2, 6), (144, 192, 2, 6), (192, 288, 2, 6), (288, 384, 1, 6)]


def bottleneck(before, after, stride, expansion):
    width = before * expansion
    return nn.Sequential(
        nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False), nn.BatchNorm2d(width),
        nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Conv2d(width, width // 4, 1, bias=False), nn.ReLU(),
        nn.Conv2d(width // 4, width, 1, bias=False), nn.Sigmoid(),
        nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after))


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        for number, step in enumerate(STEPS):
            setattr(self, f"mbconv{number + 1}", bottleneck(*step))
        self.conv_final = nn.Conv2d(384, 1408, 1, bias=False)
        self.bn_final = nn.BatchNorm2d(1408)
        self.fc = nn.Linear(1408, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for number in range(len(STEPS)):
            x = getattr(self, f"mbconv{number + 1}")(x)
        x = F.relu(self.bn_final(self.conv_final(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, 224, 224)]


def get_init_inputs():
    return [CLASSES]
