"""Reflection padding, a 5 x 3 convolution with another stride in each dimension, PReLU."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
IN = 24
OUT = 40
HEIGHT = 61
WIDTH = 93


class Model(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, (5, 3), stride=(2, 1))
        self.act = nn.PReLU(outside)

    def forward(self, x):
        x = F.pad(x, (1, 1, 2, 2), mode="reflect")
        return self.act(self.conv(x))


def get_inputs():
    return [torch.randn(BATCH, IN, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN, OUT]
