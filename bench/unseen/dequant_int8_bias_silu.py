"""Products in int32 brought back to floats by row and column scales, with bias and SiLU.

category: quant
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 1024
WIDTH = 2048


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.rand(width))

    def forward(self, acc, row, col):
        y = acc.float() * row.unsqueeze(1) * col + self.bias
        return F.silu(y)


def get_inputs():
    return [
        torch.randint(-20000, 20000, (ROWS, WIDTH), dtype=torch.int32),
        torch.rand(ROWS) * 0.001,
        torch.rand(WIDTH),
    ]


def get_init_inputs():
    return [WIDTH]
