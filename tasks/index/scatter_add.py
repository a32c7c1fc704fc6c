"""In each row, elements added at given places.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 32
COLS = 4096
ADDED = 1024


class Model(nn.Module):
    def forward(self, x, at, values):
        return x.scatter_add(1, at, values)


def get_inputs():
    return [torch.zeros(ROWS, COLS),
            torch.randint(0, COLS, (ROWS, ADDED)),
            torch.rand(ROWS, ADDED)]


def get_init_inputs():
    return []
