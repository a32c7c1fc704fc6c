"""Tokens weighted and summed into their groups by index, with a residual.

category: segment
"""
import torch
import torch.nn as nn

ROWS = 14000
WIDTH = 128
GROUPS = 2000


class Model(nn.Module):
    def forward(self, x, weight, index, base):
        y = x * weight.unsqueeze(1)
        return base.index_add(0, index, y)


def get_inputs():
    return [
        torch.randn(ROWS, WIDTH),
        torch.rand(ROWS),
        torch.randint(0, GROUPS, (ROWS,)),
        torch.randn(GROUPS, WIDTH),
    ]


def get_init_inputs():
    return []
