"""Each row divided by the mean of its absolute values.

category: normalization
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 32768
COLS = 65535


class Model(nn.Module):
    def forward(self, x):
        return x / torch.mean(torch.abs(x), dim=1, keepdim=True)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
