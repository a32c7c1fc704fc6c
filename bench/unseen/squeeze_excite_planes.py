"""Channels scaled by a gate of their own mean and deviation.

category: mixer
"""
import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 96
SIDE = 52


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Parameter(torch.rand(channels))
        self.b = nn.Parameter(torch.rand(channels))

    def forward(self, x):
        mean = x.mean(dim=(2, 3), keepdim=True)
        std = x.var(dim=(2, 3), keepdim=True, unbiased=False).sqrt()
        g = torch.sigmoid(mean * self.a[:, None, None] + std * self.b[:, None, None])
        return x * g


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS]
