"""Bilinear resize by a factor of 1.7, without aligned corners.

category: pooling
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 24
SIDE = 97


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=1.7, mode='bilinear', align_corners=False)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return []
