"""The sum of the squares of all positive elements.

category: reduce
pattern: all
"""
import torch
import torch.nn as nn

ROWS = 16384
COLS = 4096


class Model(nn.Module):
    def forward(self, x):
        return (torch.relu(x) * x).sum()


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
