"""Scores with a distance penalty a head and a causal mask, then softmax.

category: rotary
"""
import torch
import torch.nn as nn

HEADS = 12
TOKENS = 400


class Model(nn.Module):
    def forward(self, scores, slope):
        n = scores.shape[-1]
        pos = torch.arange(n)
        dist = (pos[None, :] - pos[:, None]).float()
        s = scores + slope[:, None, None] * dist
        s = s.masked_fill(dist > 0, float('-inf'))
        return torch.softmax(s, dim=-1)


def get_inputs():
    return [
        torch.randn(HEADS, TOKENS, TOKENS),
        torch.rand(HEADS),
    ]


def get_init_inputs():
    return []
