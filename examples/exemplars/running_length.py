"""The length of a path: running sum of the absolute steps along each row.

category: math
pattern: scan
"""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 32768


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x.abs(), dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
