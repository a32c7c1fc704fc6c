"""Logarithm of the softmax of each row.

category: activation
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 4096
COLS = 393216


class Model(nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.log_softmax(x, dim=self.dim)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
