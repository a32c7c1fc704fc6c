"""A pooling mixer: group norm of one group, means of 3 x 3 without the edge less the norm itself, scaled, added.

category: mixer
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 64
HEIGHT = 63
WIDTH = 65


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(1, channels)
        self.scale = nn.Parameter(torch.randn(channels, 1, 1))

    def forward(self, x):
        y = self.norm(x)
        mixed = F.avg_pool2d(y, 3, stride=1, padding=1, count_include_pad=False) - y
        return x + self.scale * mixed


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS]
