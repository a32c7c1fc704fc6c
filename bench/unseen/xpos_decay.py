"""Rotary positions with a decay that grows along the sequence.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 4
TOKENS = 1024
WIDTH = 512


class Model(nn.Module):
    def forward(self, x, angle, decay):
        a = x[..., 0::2]
        b = x[..., 1::2]
        c = torch.cos(angle) * decay
        s = torch.sin(angle) * decay
        return torch.stack((a * c - b * s, b * c + a * s), dim=-1).reshape(x.shape)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, WIDTH),
        torch.rand(TOKENS, WIDTH // 2),
        torch.rand(TOKENS, WIDTH // 2),
    ]


def get_init_inputs():
    return []
