"""Keys of few heads repeated for grouped queries, with a scale a query head.

category: shuffle
"""
import torch
import torch.nn as nn

BATCH = 2
TOKENS = 600
KV = 4
DIM = 128


class Model(nn.Module):
    def forward(self, k, scale):
        r = k.repeat_interleave(4, dim=1)
        return r * scale[None, :, None, None]


def get_inputs():
    return [
        torch.randn(BATCH, KV, TOKENS, DIM),
        torch.rand(4 * KV),
    ]


def get_init_inputs():
    return []
