"""x * row + column, one factor for each column and one addend for each row.

category: broadcast
pattern: flat
"""
import torch
import torch.nn as nn

ROWS = 16384
COLS = 4096


class Model(nn.Module):
    def forward(self, x, row, column):
        return x * row + column[:, None]


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(COLS), torch.randn(ROWS)]


def get_init_inputs():
    return []
