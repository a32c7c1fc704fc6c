"""The largest absolute value of each column.

category: reduce
pattern: other axis
"""
import torch
import torch.nn as nn

ROWS = 32768
COLS = 4096


class Model(nn.Module):
    def forward(self, x):
        return x.abs().amax(dim=0)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
