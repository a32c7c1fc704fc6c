"""Running sum of the elements under a mask.

category: math
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 32768
COLS = 32768


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=self.dim)


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.randint(0, 2, (ROWS, COLS)).bool()]


def get_init_inputs():
    return [1]
