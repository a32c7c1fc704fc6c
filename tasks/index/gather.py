"""In each row, the elements at given places.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 128
COLS = 8192
TAKEN = 4096


class Model(nn.Module):
    def forward(self, x, at):
        return torch.gather(x, 1, at)


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.randint(0, COLS, (ROWS, TAKEN))]


def get_init_inputs():
    return []
