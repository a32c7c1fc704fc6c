"""Convolution, division, max over windows, mean of each channel, bias, sum over channels.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 8
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 64
WIDTH = 64
KERNEL = (3, 3, 3)
DIVISOR = 2.0
POOL = (2, 2, 2)
DIM = 1


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divisor, pool_size, shape, dim):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.divisor = divisor
        self.pool = nn.MaxPool3d(pool_size)
        self.mean = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.bias = nn.Parameter(torch.randn(shape))
        self.dim = dim

    def forward(self, x):
        x = self.mean(self.pool(self.conv(x) / self.divisor))
        return torch.sum(x + self.bias, dim=self.dim)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, DIVISOR, POOL, (OUT_CHANNELS, 1, 1, 1), DIM]
