"""Convolution, group norm, not above 0, kept between 0 and 1, dropout: always 0.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 64
WIDTH = 64
KERNEL = 3
GROUPS = 8
LOW = 0.0
HIGH = 1.0
DROP = 0.2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, low, high, drop):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.norm = nn.GroupNorm(groups, out_channels)
        self.low = low
        self.high = high
        self.dropout = nn.Dropout(drop)

    def forward(self, x):
        x = torch.min(self.norm(self.conv(x)), torch.tensor(self.low))
        x = torch.clamp(x, self.low, self.high)
        return self.dropout(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, GROUPS, LOW, HIGH, DROP]
