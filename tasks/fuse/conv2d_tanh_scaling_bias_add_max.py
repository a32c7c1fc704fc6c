"""Convolution, tanh, times a number, plus a bias for each channel, max over windows.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL = 3
SCALE = 2.0
POOL = 4


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale, shape, pool_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scale = scale
        self.bias = nn.Parameter(torch.randn(shape))
        self.pool = nn.MaxPool2d(pool_size)

    def forward(self, x):
        x = torch.tanh(self.conv(x)) * self.scale
        return self.pool(x + self.bias)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, SCALE, (OUT_CHANNELS, 1, 1), POOL]
