"""Convolution, mean over windows, sigmoid, one sum for each image.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 384
WIDTH = 384
KERNEL = 3
POOL = 4


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.pool = nn.AvgPool2d(pool_size)

    def forward(self, x):
        x = torch.sigmoid(self.pool(self.conv(x)))
        return x.sum(dim=(1, 2, 3))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, POOL]
