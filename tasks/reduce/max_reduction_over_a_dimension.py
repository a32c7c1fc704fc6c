"""Largest value along a dimension.

category: reduce
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 128
ROWS = 4096
COLS = 4096
DIM = 1


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.max(x, dim=self.dim)[0]


def get_inputs():
    return [torch.rand(BATCH, ROWS, COLS)]


def get_init_inputs():
    return [DIM]
