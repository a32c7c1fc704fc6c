"""Volumes doubled in size, trilinear, corners kept.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 16
DEPTH = 32
HEIGHT = 32
WIDTH = 32


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=(2, 2, 2), mode='trilinear', align_corners=True)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
