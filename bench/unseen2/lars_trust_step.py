"""Momentum step scaled by the ratio of the norms of weight and gradient.

category: optimiser
"""
import torch
import torch.nn as nn

N = 800000


class Model(nn.Module):
    def forward(self, w, g, m):
        gw = g + 1e-4 * w
        ratio = 0.001 * w.pow(2).sum().sqrt() / (gw.pow(2).sum().sqrt() + 1e-9)
        n = 0.9 * m + ratio * gw
        return w - 0.1 * n, n


def get_inputs():
    return [
        torch.randn(N),
        torch.randn(N),
        torch.randn(N),
    ]


def get_init_inputs():
    return []
