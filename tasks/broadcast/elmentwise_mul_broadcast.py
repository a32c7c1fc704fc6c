"""Product of two tensors, each of which lacks an axis of the other.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 4
LAYERS = 4
COLS = 2048


class Model(nn.Module):
    def forward(self, a, b):
        return a * b


def get_inputs():
    return [torch.rand(ROWS, 1, COLS), torch.rand(1, LAYERS, COLS)]


def get_init_inputs():
    return []
