"""Transposed convolution plus a learnt number, layer norm, mean over windows, GELU.

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
KERNEL = (3, 3, 3)
STRIDE = (2, 2, 2)
PADDING = (1, 1, 1)
OUTPUT_PADDING = (1, 1, 1)
SHIFT = 1.0
POOL = (2, 2, 2)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding,
                 shift, shape, pool_size):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding, output_padding=output_padding)
        self.shift = nn.Parameter(torch.tensor(shift))
        self.norm = nn.LayerNorm(shape)
        self.pool = nn.AvgPool3d(pool_size)

    def forward(self, x):
        x = self.norm(self.conv(x) + self.shift)
        return F.gelu(self.pool(x))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, OUTPUT_PADDING, SHIFT,
            (OUT_CHANNELS,), POOL]
