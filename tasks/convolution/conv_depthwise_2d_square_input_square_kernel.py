"""Depthwise convolution of square images by a square kernel.

category: convolution
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
IN_CHANNELS = 64
HEIGHT = 512
WIDTH = 512
KERNEL = 3
STRIDE = 1
PADDING = 0


class Model(nn.Module):
    def __init__(self, in_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, in_channels, kernel_size, stride=stride, padding=padding,
                              groups=in_channels, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, KERNEL, STRIDE, PADDING]
