"""Convolution, not above a number, plus a bias for each channel, times a number.

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
CEILING = 0.5
SCALE = 2.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, ceiling, shape, scale):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.ceiling = ceiling
        self.bias = nn.Parameter(torch.randn(shape))
        self.scale = scale

    def forward(self, x):
        x = torch.min(self.conv(x), torch.tensor(self.ceiling))
        return (x + self.bias) * self.scale


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, CEILING, (OUT_CHANNELS, 1, 1), SCALE]
