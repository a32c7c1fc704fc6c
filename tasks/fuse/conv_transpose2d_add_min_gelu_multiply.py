"""Transposed convolution plus a number, not above 0, GELU, times a number.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 64
WIDTH = 64
KERNEL = 4
STRIDE = 2
SHIFT = 0.5
SCALE = 2.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, shift, scale):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride)
        self.shift = shift
        self.scale = scale

    def forward(self, x):
        x = torch.min(self.conv(x) + self.shift, torch.tensor(0.0))
        return F.gelu(x) * self.scale


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, SHIFT, SCALE]
