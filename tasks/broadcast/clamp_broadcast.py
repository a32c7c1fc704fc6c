"""x kept between two limits that each column has.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 256
COLS = 2048


class Model(nn.Module):
    def forward(self, x, low, high):
        return torch.clamp(x, min=low, max=high)


def get_inputs():
    return [torch.rand(ROWS, COLS) * 5, torch.full((COLS,), -2.0), torch.full((COLS,), 2.0)]


def get_init_inputs():
    return []
