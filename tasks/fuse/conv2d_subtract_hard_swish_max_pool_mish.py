"""Convolution minus a number, hardswish, max over windows, Mish.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL = 3
SHIFT = 0.5
POOL = 2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, shift, pool_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.shift = shift
        self.pool = nn.MaxPool2d(pool_size)

    def forward(self, x):
        x = self.pool(F.hardswish(self.conv(x) - self.shift))
        return F.mish(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, SHIFT, POOL]
