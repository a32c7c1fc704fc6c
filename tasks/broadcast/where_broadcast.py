"""x or y, chosen by one bit for each row.

category: broadcast
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 64
ROWS = 512
COLS = 64


class Model(nn.Module):
    def forward(self, choose, x, y):
        return torch.where(choose, x, y)


def get_inputs():
    choose = torch.randint(0, 2, (1, ROWS, 1), dtype=torch.bool)
    return [choose, torch.rand(BATCH, ROWS, COLS), torch.rand(BATCH, ROWS, COLS)]


def get_init_inputs():
    return []
