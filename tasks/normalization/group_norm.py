"""Group normalisation.

category: normalization
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 128
CHANNELS = 64
GROUPS = 8
HEIGHT = 512
WIDTH = 512


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups=groups, num_channels=channels)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, GROUPS]
