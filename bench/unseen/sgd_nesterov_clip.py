"""Nesterov momentum with the gradient clipped by its global norm.

category: optim
"""
import torch
import torch.nn as nn

ROWS = 512
COLS = 1600


class Model(nn.Module):
    def forward(self, p, g, buf):
        norm = torch.sqrt((g * g).sum())
        g2 = g * torch.clamp(1.0 / (norm + 1e-6), max=1.0)
        b2 = 0.9 * buf + g2
        return p - 0.1 * (g2 + 0.9 * b2), b2


def get_inputs():
    return [
        torch.randn(ROWS, COLS),
        torch.randn(ROWS, COLS),
        torch.randn(ROWS, COLS),
    ]


def get_init_inputs():
    return []
