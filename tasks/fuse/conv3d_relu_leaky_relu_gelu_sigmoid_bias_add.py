"""Convolution, ReLU, leaky ReLU, GELU, sigmoid, plus a bias for each channel.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
IN_CHANNELS = 8
OUT_CHANNELS = 32
DEPTH = 32
HEIGHT = 64
WIDTH = 64
KERNEL = 3


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(shape))

    def forward(self, x):
        x = F.leaky_relu(torch.relu(self.conv(x)), 0.01)
        return torch.sigmoid(F.gelu(x)) + self.bias


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, (OUT_CHANNELS, 1, 1, 1)]
