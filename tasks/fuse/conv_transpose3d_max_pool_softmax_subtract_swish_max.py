"""Transposed convolution, max over windows, softmax, minus a bias, swish, largest channel.

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
OUTPUT_PADDING = 1
POOL = 2
POOL_STRIDE = 2
POOL_PADDING = 0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding,
                 pool_size, pool_stride, pool_padding):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding, output_padding=output_padding)
        self.pool = nn.MaxPool3d(pool_size, stride=pool_stride, padding=pool_padding)
        self.bias = nn.Parameter(torch.randn(out_channels))

    def forward(self, x):
        x = torch.softmax(self.pool(self.conv(x)), dim=1)
        x = x - self.bias.view(1, -1, 1, 1, 1)
        return (torch.sigmoid(x) * x).max(dim=1)[0]


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, OUTPUT_PADDING, POOL,
            POOL_STRIDE, POOL_PADDING]
