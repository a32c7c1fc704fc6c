"""Depthwise convolution, then one that mixes channels at each pixel.

category: convolution
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 512
WIDTH = 512
KERNEL = 3
STRIDE = 1
PADDING = 1
DILATION = 1


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation):
        super().__init__()
        self.each = nn.Conv2d(in_channels, in_channels, kernel_size, stride=stride, padding=padding,
                              dilation=dilation, groups=in_channels, bias=False)
        self.mix = nn.Conv2d(in_channels, out_channels, 1, bias=False)

    def forward(self, x):
        return self.mix(self.each(x))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, DILATION]
