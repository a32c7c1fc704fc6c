"""Keys turned by halves and written with the heads first.

category: rotary
"""
import torch
import torch.nn as nn

TOKENS = 1600
HEADS = 16
DIM = 80


class Model(nn.Module):
    def forward(self, k, cos, sin):
        h = k.shape[2] // 2
        r = torch.cat((-k[..., h:], k[..., :h]), dim=-1)
        y = k * cos.unsqueeze(1) + r * sin.unsqueeze(1)
        return y.transpose(0, 1)


def get_inputs():
    return [
        torch.randn(TOKENS, HEADS, DIM),
        torch.rand(TOKENS, DIM),
        torch.rand(TOKENS, DIM),
    ]


def get_init_inputs():
    return []
