"""Largest less mean value of windows of seven in steps of three.

category: pooling
"""
import torch
import torch.nn as nn

BATCH = 6
CHANNELS = 64
HEIGHT = 89
WIDTH = 101


class Model(nn.Module):
    def forward(self, x):
        a = nn.functional.max_pool2d(x, (7, 5), stride=(3, 2), padding=(3, 2))
        b = nn.functional.avg_pool2d(x, (7, 5), stride=(3, 2), padding=(3, 2), count_include_pad=False)
        return a - b


def get_inputs():
    return [
        torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH),
    ]


def get_init_inputs():
    return []
