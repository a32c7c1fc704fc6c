"""a and b, where b has one bit for each row.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 128
ROWS = 512
COLS = 1024


class Model(nn.Module):
    def forward(self, a, b):
        return a & b


def get_inputs():
    a = torch.randint(0, 2, (BATCH, ROWS, COLS), dtype=torch.bool)
    b = torch.randint(0, 2, (1, ROWS, 1), dtype=torch.bool)
    return [a, b]


def get_init_inputs():
    return []
