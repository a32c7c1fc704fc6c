"""Transposed convolution, batch norm, mean over windows twice.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 64
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 32
HEIGHT = 32
WIDTH = 32
KERNEL = 3
STRIDE = 2
PADDING = 1


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding)
        self.norm = nn.BatchNorm3d(out_channels)
        self.first = nn.AvgPool3d(2)
        self.second = nn.AvgPool3d(2)

    def forward(self, x):
        return self.second(self.first(self.norm(self.conv(x))))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING]
