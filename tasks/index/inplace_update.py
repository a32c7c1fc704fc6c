"""Rows written into x itself at given places.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 10000
COLS = 1024
WRITTEN = 2048


class Model(nn.Module):
    def forward(self, x, at, rows):
        x[at] = rows
        return x


def get_inputs():
    return [torch.zeros(ROWS, COLS),
            torch.randint(0, ROWS, (WRITTEN,)),
            torch.rand(WRITTEN, COLS)]


def get_init_inputs():
    return []
