"""Root mean square normalisation along the channels.

category: normalization
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 128
CHANNELS = 64
HEIGHT = 512
WIDTH = 512


class Model(nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.channels = channels
        self.eps = eps

    def forward(self, x):
        scale = torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + self.eps)
        return x / scale


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS]
