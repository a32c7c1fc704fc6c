"""The mean of log(cosh(p - t)) over everything.

category: loss
pattern: all
"""
import torch
import torch.nn as nn

ROWS = 8192
COLS = 8192


class Model(nn.Module):
    def forward(self, p, t):
        d = (p - t).abs()
        return (d + torch.log(1 + torch.exp(-2 * d)) - 0.6931471805599453).mean()


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
