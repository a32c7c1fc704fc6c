"""A step by the sign of the blended momentum, and the new momentum.

category: optimizer
pattern: flat
"""
import torch
import torch.nn as nn

COUNT = 1 << 22


class Model(nn.Module):
    def forward(self, p, g, m):
        step = torch.sign(0.9 * m + 0.1 * g)
        return p - 0.0001 * step, 0.99 * m + 0.01 * g


def get_inputs():
    return [torch.randn(COUNT), torch.randn(COUNT), torch.randn(COUNT)]


def get_init_inputs():
    return []
