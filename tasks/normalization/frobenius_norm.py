"""The tensor divided by its Frobenius norm.

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
    def forward(self, x):
        return x / torch.norm(x, p='fro')


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
