"""Transposed convolution, batch norm, tanh, max over windows, group norm.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 512
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 32
WIDTH = 32
KERNEL = 5
STRIDE = 1
PADDING = 1
UNUSED = 8
GROUPS = 8


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, unused, groups):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding)
        self.batch = nn.BatchNorm2d(out_channels)
        self.pool = nn.MaxPool2d(2, stride=2)
        self.norm = nn.GroupNorm(groups, out_channels)

    def forward(self, x):
        x = torch.tanh(self.batch(self.conv(x)))
        return self.norm(self.pool(x))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, UNUSED, GROUPS]
