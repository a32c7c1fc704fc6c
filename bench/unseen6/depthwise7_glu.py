"""Causal depthwise convolution of seven taps over time, then a gated linear unit of its halves.

category: mixer
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
TIME = 1024
CHANNELS = 512


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, 7) * 0.3)
        self.bias = nn.Parameter(torch.randn(channels) * 0.1)

    def forward(self, x):
        y = F.conv1d(F.pad(x.transpose(1, 2), (6, 0)), self.weight, self.bias, groups=x.shape[2])
        return F.glu(y, dim=1).transpose(1, 2)


def get_inputs():
    return [torch.randn(BATCH, TIME, CHANNELS)]


def get_init_inputs():
    return [CHANNELS]
