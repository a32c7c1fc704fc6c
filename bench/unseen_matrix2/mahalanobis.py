"""Squared Mahalanobis distance of rows to several centres by a shared factor."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 700
CENTRES = 20
WIDTH = 48


class Model(nn.Module):
    def __init__(self, centres, width):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(centres, width))
        self.factor = nn.Parameter(torch.randn(width, width) * 0.2)

    def forward(self, x):
        a = x @ self.factor
        m = self.mean @ self.factor
        d = a.unsqueeze(1) - m.unsqueeze(0)
        return -0.5 * (d * d).sum(-1)


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [CENTRES, WIDTH]
