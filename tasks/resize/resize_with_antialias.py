"""Images shrunk to a given size, bilinear with antialiasing.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 3
HEIGHT = 256
WIDTH = 256
OUT_HEIGHT = 128
OUT_WIDTH = 128


class Model(nn.Module):
    def forward(self, x):
        size = (OUT_HEIGHT, OUT_WIDTH)
        return F.interpolate(x, size, mode='bilinear', align_corners=False, antialias=True)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
