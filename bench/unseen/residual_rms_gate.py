"""RMS norm of a residual sum, gated by a sigmoid. Returns the sum and the gated norm.

category: norm
"""
import torch
import torch.nn as nn

TOKENS = 800
WIDTH = 1024


class Model(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x, residual, gate):
        h = x + residual
        n = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
        return h, n * torch.sigmoid(gate)


def get_inputs():
    return [
        torch.randn(4, TOKENS // 4, WIDTH),
        torch.randn(4, TOKENS // 4, WIDTH),
        torch.randn(4, TOKENS // 4, WIDTH),
    ]


def get_init_inputs():
    return [WIDTH]
