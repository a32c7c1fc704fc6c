"""Minus infinity where a mask is set.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 64
ROWS = 512
COLS = 512


class Model(nn.Module):
    def forward(self, x, mask):
        return x.masked_fill(mask, -float('inf'))


def get_inputs():
    x = torch.rand(BATCH, ROWS, COLS)
    return [x, torch.randint(0, 2, (BATCH, ROWS, COLS), dtype=torch.bool)]


def get_init_inputs():
    return []
