"""Transposed convolution, times a number, max over windows, mean of each channel, clamp.

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
STRIDE = 2
PADDING = 1
SCALE = 0.5
POOL = 2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, scale, pool_size):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding)
        self.scale = scale
        self.pool = nn.MaxPool3d(pool_size)
        self.mean = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x):
        x = self.mean(self.pool(self.conv(x) * self.scale))
        return torch.clamp(x, 0, 1)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, SCALE, POOL]
