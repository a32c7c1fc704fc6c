"""Gate by the sequence read backwards, with a norm over time.

category: mixer
"""
import torch
import torch.nn as nn

BATCH = 4
TOKENS = 512
WIDTH = 768


class Model(nn.Module):
    def forward(self, x, v):
        g = torch.flip(v, [1]) * x
        return g / (g.abs().mean(dim=1, keepdim=True) + 1e-5)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, WIDTH),
        torch.randn(BATCH, TOKENS, WIDTH),
    ]


def get_init_inputs():
    return []
