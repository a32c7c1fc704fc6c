"""Element-wise tanh in place of a norm, with per-channel affine.

category: norm
"""
import torch
import torch.nn as nn

TOKENS = 2730
WIDTH = 768


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.alpha = nn.Parameter(torch.full((1,), 0.5))
        self.weight = nn.Parameter(torch.rand(width))
        self.bias = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return torch.tanh(self.alpha * x) * self.weight + self.bias


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH]
