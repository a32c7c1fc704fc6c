"""Rows replaced at given places; of repeated places the last counts.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 8192
COLS = 1024
COPIED = 2048


class Model(nn.Module):
    def forward(self, x, at, rows):
        return x.index_copy(0, at, rows)


def get_inputs():
    return [torch.zeros(ROWS, COLS), torch.randint(0, ROWS, (COPIED,)), torch.rand(COPIED, COLS)]


def get_init_inputs():
    return []
