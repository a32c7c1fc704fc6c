"""Convolution, group norm, a scale for each channel, max over windows, clamp.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 128
WIDTH = 128
KERNEL = 3
GROUPS = 16
POOL = 4
LOW = 0.0
HIGH = 1.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, shape, pool_size, low, high
                 ):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.norm = nn.GroupNorm(groups, out_channels)
        self.scale = nn.Parameter(torch.ones(shape))
        self.pool = nn.MaxPool2d(pool_size)
        self.low = low
        self.high = high

    def forward(self, x):
        x = self.pool(self.norm(self.conv(x)) * self.scale)
        return torch.clamp(x, self.low, self.high)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, GROUPS, (OUT_CHANNELS, 1, 1), POOL, LOW, HIGH]
