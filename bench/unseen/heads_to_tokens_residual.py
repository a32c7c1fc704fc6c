"""Heads brought back to tokens and added to a residual.

category: shuffle
"""
import torch
import torch.nn as nn

BATCH = 2
HEADS = 12
TOKENS = 430
DIM = 64


class Model(nn.Module):
    def forward(self, x, residual):
        b, h, t, d = x.shape
        return x.transpose(1, 2).reshape(b, t, h * d) + residual


def get_inputs():
    return [
        torch.randn(BATCH, HEADS, TOKENS, DIM),
        torch.randn(BATCH, TOKENS, HEADS * DIM),
    ]


def get_init_inputs():
    return []
