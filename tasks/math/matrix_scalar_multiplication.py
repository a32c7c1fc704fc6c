"""A matrix times a number.

category: math
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 65536
COLS = 16384


class Model(nn.Module):
    def forward(self, a, s):
        return a * s


def get_inputs():
    return [torch.rand(ROWS, COLS), 3.14]


def get_init_inputs():
    return []
