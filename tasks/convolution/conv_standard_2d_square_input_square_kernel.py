"""The first convolution of AlexNet, with bias.

category: convolution
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 256
IN_CHANNELS = 3
OUT_CHANNELS = 96
HEIGHT = 224
WIDTH = 224
KERNEL = 11
STRIDE = 4
PADDING = 2


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding
                              )

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING]
