"""Rotary positions on halves, for queries and keys with different head counts.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 2
TOKENS = 512
HEADS = 12
KV = 4
DIM = 128


class Model(nn.Module):
    def turn(self, x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin

    def forward(self, q, k, cos, sin):
        return self.turn(q, cos, sin), self.turn(k, cos, sin)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, HEADS, DIM),
        torch.randn(BATCH, TOKENS, KV, DIM),
        torch.rand(TOKENS, 1, DIM),
        torch.rand(TOKENS, 1, DIM),
    ]


def get_init_inputs():
    return []
