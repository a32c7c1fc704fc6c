"""Channels of a picture normalised by their mean over positions and re-weighted by a softmax over channels.

category: norm
"""
import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 64
SIDE = 64


class Model(nn.Module):
    def forward(self, x):
        pooled = x.mean(dim=(2, 3))
        weight = torch.softmax(pooled, dim=1)
        return x * weight[:, :, None, None] + x


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return []
