"""Batch norm, ReLU, 1 x 1 convolution, average pool.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 128
IN_CHANNELS = 32
OUT_CHANNELS = 64
SIDE = 256


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(in_channels), nn.ReLU(),
            nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.AvgPool2d(2))

    def forward(self, x):
        return self.transition(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS]
