"""Largest minus smallest element of each row.

category: reduce
pattern: long row
"""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 65536


class Model(nn.Module):
    def forward(self, x):
        return x.amax(dim=1) - x.amin(dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
