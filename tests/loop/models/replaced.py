"""x1 and x2 are replaced; what is made beside them stands between them.

in   x1    f32
in   x2    f32
in   gamma f32
out  x1    f32
out  total f32
out  x2    f32
"""
import torch
import torch.nn as nn

ROWS = 24
WIDTH = 40


class Model(nn.Module):
    def forward(self, x1, x2, gamma):
        x = x1 + x2
        total = torch.sum(x, dim=-1, keepdim=True)
        return x * gamma, total, x


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH), torch.randn(WIDTH)]


def get_init_inputs():
    return []
