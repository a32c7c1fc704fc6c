"""Transposed convolution, times a number, batch norm, mean of each channel.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL = 5
SCALE = 2.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size)
        self.scale = scale
        self.norm = nn.BatchNorm3d(out_channels)
        self.mean = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x):
        return self.mean(self.norm(self.conv(x) * self.scale))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, SCALE]
