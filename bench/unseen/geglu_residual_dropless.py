"""GEGLU of interleaved halves plus a residual.

category: mixer
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 1024
WIDTH = 1000


class Model(nn.Module):
    def forward(self, x, residual):
        a = x[:, 0::2]
        b = x[:, 1::2]
        return F.gelu(a, approximate='tanh') * b + residual


def get_inputs():
    return [
        torch.randn(TOKENS, 2 * WIDTH),
        torch.randn(TOKENS, WIDTH),
    ]


def get_init_inputs():
    return []
