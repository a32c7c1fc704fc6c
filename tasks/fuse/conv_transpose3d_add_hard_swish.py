"""Transposed convolution plus a second input, then x * hardswish(x).

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 128
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 16
HEIGHT = 16
WIDTH = 16
KERNEL = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding, output_padding=output_padding)

    def forward(self, x, other):
        x = self.conv(x) + other
        return x * F.hardswish(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH),
                torch.rand(BATCH, OUT_CHANNELS, DEPTH * STRIDE, HEIGHT * STRIDE, WIDTH * STRIDE)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, OUTPUT_PADDING]
