"""Adafactor's factored second moment of a matrix and its update.

category: optim
"""
import torch
import torch.nn as nn

ROWS = 1024
COLS = 2000


class Model(nn.Module):
    def forward(self, g, r, c):
        sq = g * g + 1e-30
        r2 = 0.99 * r + 0.01 * sq.mean(dim=1)
        c2 = 0.99 * c + 0.01 * sq.mean(dim=0)
        u = g * torch.rsqrt(r2 / r2.mean()).unsqueeze(1) * torch.rsqrt(c2).unsqueeze(0)
        return u, r2, c2


def get_inputs():
    return [
        torch.randn(ROWS, COLS),
        torch.rand(ROWS) + 0.1,
        torch.rand(COLS) + 0.1,
    ]


def get_init_inputs():
    return []
