"""Grouped pointwise convolutions around a depthwise one, channels shuffled between groups.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
IN_CHANNELS = 240
OUT_CHANNELS = 480
GROUPS = 3
SIDE = 224


def shuffled(x, groups):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


class Model(nn.Module):
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


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, GROUPS]
