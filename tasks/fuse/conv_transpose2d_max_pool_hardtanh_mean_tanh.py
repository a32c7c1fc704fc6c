"""Transposed convolution, max over windows, hardtanh, mean of each channel, tanh.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 64
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL = 3
STRIDE = 1
PADDING = 1
POOL = 2
POOL_STRIDE = 2
LOW = -1
HIGH = 1


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, pool_size,
                 pool_stride, low, high):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding)
        self.pool = nn.MaxPool2d(pool_size, stride=pool_stride)
        self.cut = nn.Hardtanh(low, high)

    def forward(self, x):
        x = self.cut(self.pool(self.conv(x)))
        return torch.tanh(x.mean(dim=(2, 3), keepdim=True))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, POOL, POOL_STRIDE, LOW, HIGH]
