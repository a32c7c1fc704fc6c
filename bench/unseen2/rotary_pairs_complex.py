"""Neighbouring pairs turned by an angle per position, read from a table by position.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 2
TOKENS = 400
HEADS = 20
DIM = 128


class Model(nn.Module):
    def forward(self, x, angle):
        p = x.reshape(x.shape[0], x.shape[1], x.shape[2], x.shape[3] // 2, 2)
        c = angle.cos().unsqueeze(1)
        s = angle.sin().unsqueeze(1)
        re = p[..., 0] * c - p[..., 1] * s
        im = p[..., 0] * s + p[..., 1] * c
        return torch.stack((re, im), dim=-1).flatten(3)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, HEADS, DIM),
        torch.rand(TOKENS, DIM // 2),
    ]


def get_init_inputs():
    return []
