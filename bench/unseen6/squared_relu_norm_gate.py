"""Squared ReLU scaled to unit mean square, times a gate.

category: norm
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 1024
WIDTH = 2048


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x, gate):
        h = F.relu(x) ** 2
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-5)
        return h * self.weight * torch.sigmoid(gate)


def get_inputs():
    return [torch.randn(TOKENS, WIDTH), torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH]
