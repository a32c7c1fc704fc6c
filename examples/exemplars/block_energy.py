"""The root of the summed squares of each block of four rows.

category: pooling
pattern: other axis
"""
import torch
import torch.nn as nn

BLOCKS = 16384
WIDTH = 4096


class Model(nn.Module):
    def forward(self, x):
        return torch.sqrt((x * x).sum(dim=1))


def get_inputs():
    return [torch.randn(BLOCKS, 4, WIDTH)]


def get_init_inputs():
    return []
