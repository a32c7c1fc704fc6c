"""Images resized to a size that is an argument, bilinear.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 128
HEIGHT = 100
WIDTH = 150
OUT_HEIGHT = 200
OUT_WIDTH = 300


class Model(nn.Module):
    def forward(self, x, size):
        return F.interpolate(x, size, mode='bilinear', align_corners=False)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH), (OUT_HEIGHT, OUT_WIDTH)]


def get_init_inputs():
    return []
