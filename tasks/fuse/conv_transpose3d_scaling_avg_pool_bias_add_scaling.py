"""Transposed convolution, a learnt scale, mean over windows, bias, a learnt scale.

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
HEIGHT = 32
WIDTH = 32
KERNEL = 3
STRIDE = 2
PADDING = 1
INNER = 0.5
OUTER = 1.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, inner, outer,
                 shape):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding)
        self.inner = nn.Parameter(torch.tensor(inner))
        self.pool = nn.AvgPool3d(2)
        self.bias = nn.Parameter(torch.randn(shape))
        self.outer = nn.Parameter(torch.tensor(outer))

    def forward(self, x):
        x = self.pool(self.conv(x) * self.inner)
        return (x + self.bias) * self.outer


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, INNER, OUTER, (OUT_CHANNELS, 1,
            1, 1)]
