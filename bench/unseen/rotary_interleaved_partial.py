"""Rotary positions on neighbouring pairs, on the first part of each head only.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 2
HEADS = 16
TOKENS = 512
DIM = 96


class Model(nn.Module):
    def forward(self, x, cos, sin):
        rot, rest = x[..., :64], x[..., 64:]
        even = rot[..., 0::2]
        odd = rot[..., 1::2]
        a = even * cos - odd * sin
        b = even * sin + odd * cos
        return torch.cat([torch.stack([a, b], dim=-1).flatten(-2), rest], dim=-1)


def get_inputs():
    return [
        torch.randn(BATCH, HEADS, TOKENS, DIM),
        torch.rand(TOKENS, 32),
        torch.rand(TOKENS, 32),
    ]


def get_init_inputs():
    return []
