"""A number for each channel added to a batch of images.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 512
HEIGHT = 32
WIDTH = 32


class Model(nn.Module):
    def forward(self, x, bias):
        return x + bias.view(1, -1, 1, 1)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH), torch.rand(CHANNELS)]


def get_init_inputs():
    return []
