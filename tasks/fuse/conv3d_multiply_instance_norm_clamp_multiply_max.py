"""Convolution, channel scale, instance norm, clamp, the same scale, largest channel.

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
HEIGHT = 32
WIDTH = 32
KERNEL = 3
LOW = -1.0
HIGH = 1.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, shape, low, high):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.scale = nn.Parameter(torch.randn(shape))
        self.norm = nn.InstanceNorm3d(out_channels)
        self.low = low
        self.high = high

    def forward(self, x):
        x = self.norm(self.conv(x) * self.scale)
        x = torch.clamp(x, self.low, self.high) * self.scale
        return x.max(dim=1)[0]


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, (OUT_CHANNELS, 1, 1, 1), LOW, HIGH]
