"""The same columns of every row.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 256
COLS = 8192
TAKEN = 2048


class Model(nn.Module):
    def forward(self, x, at):
        return x.index_select(1, at)


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.randint(0, COLS, (TAKEN,))]


def get_init_inputs():
    return []
