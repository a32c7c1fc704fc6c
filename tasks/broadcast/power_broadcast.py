"""x to a power that each column has.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 4
COLS = 2048


class Model(nn.Module):
    def forward(self, x, power):
        return x ** power


def get_inputs():
    return [torch.rand(ROWS, COLS).abs() + 0.01, torch.full((COLS,), 0.5)]


def get_init_inputs():
    return []
