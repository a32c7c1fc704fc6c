"""Depthwise convolution of oblong images by an oblong kernel.

category: convolution
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 32
CHANNELS = 128
HEIGHT = 128
WIDTH = 256
KERNEL = (3, 7)
STRIDE = (1, 1)
PADDING = (0, 0)
DILATION = (1, 1)


class Model(nn.Module):
    def __init__(self, channels, kernel_size, stride, padding, dilation):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size, stride=stride, padding=padding,
                              dilation=dilation, groups=channels, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, KERNEL, STRIDE, PADDING, DILATION]
