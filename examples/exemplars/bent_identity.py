"""(sqrt(x^2 + 1) - 1) / 2 + x, element by element.

category: activation
pattern: flat
"""
import torch
import torch.nn as nn

COUNT = 1 << 22


class Model(nn.Module):
    def forward(self, x):
        return (torch.sqrt(x * x + 1) - 1) / 2 + x


def get_inputs():
    return [torch.randn(COUNT)]


def get_init_inputs():
    return []
