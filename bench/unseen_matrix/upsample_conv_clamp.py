"""Nearest upsampling by two, a 3 x 3 convolution, clamped to pixels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
IN = 32
OUT = 3
SIDE = 72


class Model(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 3, padding=1)

    def forward(self, x):
        y = self.conv(F.interpolate(x, scale_factor=2, mode="nearest"))
        return torch.clamp(y * 0.5 + 0.5, 0.0, 1.0)


def get_inputs():
    return [torch.randn(BATCH, IN, SIDE, SIDE)]


def get_init_inputs():
    return [IN, OUT]
