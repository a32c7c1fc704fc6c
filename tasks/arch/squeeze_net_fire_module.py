"""The fire module of SqueezeNet: a 1 x 1 convolution, then 1 x 1 and 3 x 3 side by side.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 128
CHANNELS = 3
SQUEEZED = 6
WIDE1 = 64
WIDE3 = 64
SIDE = 256


class Model(nn.Module):
    def __init__(self, channels, squeezed, wide1, wide3):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, wide1, 1)
        self.expand3x3 = nn.Conv2d(squeezed, wide3, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.expand1x1(x)), torch.relu(self.expand3x3(x))], dim=1)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS, SQUEEZED, WIDE1, WIDE3]
