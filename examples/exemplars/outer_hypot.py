"""sqrt(a_i^2 + b_j^2) for every pair.

category: broadcast
pattern: outer
"""
import torch
import torch.nn as nn

LEFT = 8192
RIGHT = 8192


class Model(nn.Module):
    def forward(self, a, b):
        return torch.sqrt(a[:, None] * a[:, None] + b[None, :] * b[None, :])


def get_inputs():
    return [torch.randn(LEFT), torch.randn(RIGHT)]


def get_init_inputs():
    return []
