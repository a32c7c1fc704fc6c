"""ShuffleNet: three stages of units with shuffled channels.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
SIDE = 224
CLASSES = 1000
GROUPS = 3
COUNTS = [3, 7, 3]
WIDTHS = [24, 240, 480, 960]


def shuffled(x, groups):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


class Unit(nn.Module):
    def __init__(self, before, after, groups):
        super().__init__()
        width = after // 4
        self.groups = groups
        self.conv1 = nn.Conv2d(before, width, 1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, after, 1, groups=groups, bias=False)
        self.bn3 = nn.BatchNorm2d(after)
        self.shortcut = nn.Sequential()
        if before != after:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = shuffled(self.bn2(self.conv2(y)), self.groups)
        return F.relu(self.bn3(self.conv3(y))) + self.shortcut(x)


def stage(before, after, count):
    rest = [Unit(after, after, GROUPS) for _ in range(count - 1)]
    return nn.Sequential(Unit(before, after, GROUPS), *rest)


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTHS[0], 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(WIDTHS[0])
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.stage2 = stage(WIDTHS[0], WIDTHS[1], COUNTS[0])
        self.stage3 = stage(WIDTHS[1], WIDTHS[2], COUNTS[1])
        self.stage4 = stage(WIDTHS[2], WIDTHS[3], COUNTS[2])
        self.conv5 = nn.Conv2d(WIDTHS[3], 1024, 1, bias=False)
        self.bn5 = nn.BatchNorm2d(1024)
        self.fc = nn.Linear(1024, classes)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.stage4(self.stage3(self.stage2(x)))
        x = F.relu(self.bn5(self.conv5(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [CLASSES]
