"""In each row, the elements at given places, as take_along_dim has it.

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
        return x.take_along_dim(at, dim=1)


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.randint(0, COLS, (ROWS, TAKEN))]


def get_init_inputs():
    return []
