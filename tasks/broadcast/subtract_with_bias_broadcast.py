"""A row subtracted from every row.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 8
COLS = 4096


class Model(nn.Module):
    def forward(self, x, bias):
        return x - bias


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.rand(COLS)]


def get_init_inputs():
    return []
