"""An int32 sum of products scaled by row and by column, bias added, stored as half.

category: quantise
"""
import torch
import torch.nn as nn

ROWS = 1400
WIDTH = 2000


class Model(nn.Module):
    def forward(self, acc, row, col, bias):
        y = acc.float() * row.unsqueeze(1) * col.unsqueeze(0) + bias
        return torch.relu(y).half()


def get_inputs():
    return [
        torch.randint(-9000, 9000, (ROWS, WIDTH), dtype=torch.int32),
        torch.rand(ROWS),
        torch.rand(WIDTH),
        torch.randn(WIDTH),
    ]


def get_init_inputs():
    return []
