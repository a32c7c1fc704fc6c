"""Queries split into heads, normalised to length one, turned heads first and scaled by a bounded exponential per head.

category: norm
"""
import torch
import torch.nn as nn

BATCH = 4
TOKENS = 500
HEADS = 16
DIM = 64


class Model(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.logit_scale = nn.Parameter(torch.randn(heads, 1, 1))

    def forward(self, q):
        b, t, width = q.shape
        q = q.view(b, t, self.heads, width // self.heads).permute(0, 2, 1, 3)
        q = q / q.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        return q * torch.exp(torch.clamp(self.logit_scale, max=4.6052))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, HEADS * DIM)]


def get_init_inputs():
    return [HEADS]
