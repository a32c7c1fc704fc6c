"""Root-mean-square norm of a sum of two branches, gated twice.

category: norm
"""
import torch
import torch.nn as nn

TOKENS = 900
WIDTH = 1152


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x, branch, gate):
        h = x + branch * torch.sigmoid(gate)
        y = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        return y * torch.tanh(gate), h


def get_inputs():
    return [
        torch.randn(TOKENS, WIDTH),
        torch.randn(TOKENS, WIDTH),
        torch.randn(TOKENS, WIDTH),
    ]


def get_init_inputs():
    return [WIDTH]
