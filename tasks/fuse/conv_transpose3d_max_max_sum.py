"""Transposed convolution, max over windows of two sizes, sum over channels.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 16
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 32
WIDTH = 32
KERNEL = 5
STRIDE = 2
PADDING = 2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding)
        self.first = nn.MaxPool3d(2)
        self.second = nn.MaxPool3d(3)

    def forward(self, x):
        x = self.second(self.first(self.conv(x)))
        return x.sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING]
