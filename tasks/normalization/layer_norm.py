"""Layer normalisation over channels and both image axes.

category: normalization
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 64
CHANNELS = 64
HEIGHT = 256
WIDTH = 256


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=shape)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [(CHANNELS, HEIGHT, WIDTH)]
