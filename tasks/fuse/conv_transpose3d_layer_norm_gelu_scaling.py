"""Transposed convolution, layer norm over the last axis, GELU, times a number.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 32
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL = 4
STRIDE = 2
PADDING = 1
BIAS = True
EPS = 1e-5
SCALE = 1.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, bias, eps, scale):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding, bias=bias)
        self.norm = nn.LayerNorm(out_channels, eps=eps)
        self.scale = scale

    def forward(self, x):
        return F.gelu(self.norm(self.conv(x))) * self.scale


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, BIAS, EPS, SCALE]
