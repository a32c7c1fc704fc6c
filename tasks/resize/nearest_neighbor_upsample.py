"""Every pixel four times in each direction.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 16
CHANNELS = 128
HEIGHT = 32
WIDTH = 32


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=4.0, mode='nearest')


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
