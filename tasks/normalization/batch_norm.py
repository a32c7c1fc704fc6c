"""Batch normalisation with the statistics of the batch.

category: normalization
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 64
CHANNELS = 64
HEIGHT = 512
WIDTH = 512


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(num_features=channels)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS]
