"""Convolution, tanh of a channel scale, another channel scale, sigmoid.

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
HEIGHT = 64
WIDTH = 64
KERNEL = 3
UNUSED = 2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, unused, shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.inner = nn.Parameter(torch.randn(shape))
        self.outer = nn.Parameter(torch.randn(shape))

    def forward(self, x):
        x = torch.tanh(self.conv(x) * self.inner)
        return torch.sigmoid(x * self.outer)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, UNUSED, (OUT_CHANNELS, 1, 1, 1)]
