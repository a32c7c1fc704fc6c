"""Rotary positions looked up by position ids in caches of sines and cosines.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 2
TOKENS = 600
HEADS = 12
DIM = 128
LONGEST = 4096


class Model(nn.Module):
    def forward(self, q, position, cos_cache, sin_cache):
        half = q.shape[-1] // 2
        cos = cos_cache[position].unsqueeze(2)
        sin = sin_cache[position].unsqueeze(2)
        first, second = q[..., :half], q[..., half:]
        turned = torch.cat((-second, first), dim=-1)
        return q * cos + turned * sin


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, HEADS, DIM),
        torch.randint(0, LONGEST, (BATCH, TOKENS)),
        torch.randn(LONGEST, DIM),
        torch.randn(LONGEST, DIM),
    ]


def get_init_inputs():
    return []
