"""Convolution minus a number, tanh, minus a number, mean over windows.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL = 3
FIRST = 0.5
SECOND = 0.2
POOL = 2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, first, second, pool_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.first = first
        self.second = second
        self.pool = nn.AvgPool2d(pool_size)

    def forward(self, x):
        x = torch.tanh(self.conv(x) - self.first)
        return self.pool(x - self.second)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, FIRST, SECOND, POOL]
