"""The larger of two tensors that share no full axis.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
ROWS = 256
COLS = 1024


class Model(nn.Module):
    def forward(self, a, b):
        return torch.maximum(a, b)


def get_inputs():
    return [torch.rand(BATCH, 1, COLS), torch.rand(1, ROWS, 1)]


def get_init_inputs():
    return []
