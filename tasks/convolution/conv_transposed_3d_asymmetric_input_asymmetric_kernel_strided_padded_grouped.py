"""Transposed convolution of oblong volumes: oblong kernel, stride, padding, groups.

category: convolution
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 8
IN_CHANNELS = 32
OUT_CHANNELS = 32
DEPTH = 12
HEIGHT = 24
WIDTH = 48
KERNEL = (3, 5, 7)
STRIDE = (2, 2, 2)
PADDING = (1, 2, 3)
OUTPUT_PADDING = (1, 1, 1)
GROUPS = 4


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding,
                 groups):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding, output_padding=output_padding,
                                       groups=groups, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, OUTPUT_PADDING, GROUPS]
