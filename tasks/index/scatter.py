"""In each row, elements written at given places.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 64
COLS = 8192
WRITTEN = 4096


class Model(nn.Module):
    def forward(self, x, at, values):
        return x.scatter(1, at, values)


def get_inputs():
    return [torch.zeros(ROWS, COLS),
            torch.randint(0, COLS, (ROWS, WRITTEN)),
            torch.rand(ROWS, WRITTEN)]


def get_init_inputs():
    return []
