"""Convolution, minus two numbers one after the other, Mish.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL = 3
FIRST = 0.5
SECOND = 0.2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, first, second):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.first = first
        self.second = second

    def forward(self, x):
        return F.mish(self.conv(x) - self.first - self.second)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, FIRST, SECOND]
