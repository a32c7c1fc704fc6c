"""Grouped 3 x 3 convolution, batch norm, swish, channels shuffled."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 96
SIDE = 40
GROUPS = 4


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.groups = groups
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.silu(self.bn(self.conv(x)))
        b, c, h, w = y.shape
        return y.view(b, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(b, c, h, w)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS, GROUPS]
