"""Images divided by a number for each channel.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 3
HEIGHT = 32
WIDTH = 128


class Model(nn.Module):
    def forward(self, x, scale):
        return x / scale


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH), torch.rand(CHANNELS, 1, 1)]


def get_init_inputs():
    return []
