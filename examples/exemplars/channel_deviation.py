"""Channels divided by their mean absolute deviation from zero over axis 1.

category: normalization
pattern: other axis
"""
import torch
import torch.nn as nn

BATCH = 64
CHANNELS = 256
SPACE = 4096


class Model(nn.Module):
    def forward(self, x):
        return x / (x.abs().mean(dim=1, keepdim=True) + 0.001)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SPACE)]


def get_init_inputs():
    return []
