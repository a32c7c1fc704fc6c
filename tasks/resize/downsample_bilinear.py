"""Images shrunk to a given size, bilinear.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 128
HEIGHT = 240
WIDTH = 320
OUT_HEIGHT = 60
OUT_WIDTH = 80


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, (OUT_HEIGHT, OUT_WIDTH), mode='bilinear', align_corners=False)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
