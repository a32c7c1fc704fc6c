"""Rows added to rows at given places; places may repeat.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 1024
COLS = 4096
ADDED = 8192


class Model(nn.Module):
    def forward(self, x, at, rows):
        return x.index_add(0, at, rows)


def get_inputs():
    return [torch.zeros(ROWS, COLS), torch.randint(0, ROWS, (ADDED,)), torch.rand(ADDED, COLS)]


def get_init_inputs():
    return []
