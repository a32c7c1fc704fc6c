"""Rotary positions of video tokens: parts of a head turn with time, row and column, pairs lie half a part apart.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 2
HEADS = 8
TOKENS = 1200
DIM = 96


class Model(nn.Module):
    def turn(self, x, angle):
        a, b = x.chunk(2, dim=-1)
        c, s = torch.cos(angle), torch.sin(angle)
        return torch.cat((a * c - b * s, b * c + a * s), dim=-1)

    def forward(self, x, time, row, col):
        part = x.shape[-1] // 3
        t, r, c = torch.split(x, part, dim=-1)
        return torch.cat((self.turn(t, time), self.turn(r, row), self.turn(c, col)), dim=-1)


def get_inputs():
    return [
        torch.randn(BATCH, HEADS, TOKENS, DIM),
        torch.randn(TOKENS, 16),
        torch.randn(TOKENS, 16),
        torch.randn(TOKENS, 16),
    ]


def get_init_inputs():
    return []
