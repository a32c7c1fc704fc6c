"""Images enlarged to a given size, bicubic, corners kept.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 64
HEIGHT = 64
WIDTH = 64
OUT_HEIGHT = 256
OUT_WIDTH = 256


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, (OUT_HEIGHT, OUT_WIDTH), mode='bicubic', align_corners=True)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
