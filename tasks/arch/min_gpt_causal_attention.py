"""Causal self-attention with its projections, as minGPT writes it.

category: arch
suite: multikernelbench
level: 3
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 128
STEPS = 512
LONGEST = 1024
WIDTH = 768
HEADS = 8
DROP = 0.0


class Model(nn.Module):
    def __init__(self, width, heads, drop, longest):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.attn_dropout = nn.Dropout(drop)
        self.resid_dropout = nn.Dropout(drop)
        self.register_buffer("bias", torch.tril(torch.ones(longest, longest))[None, None])

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = [part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                   for part in self.c_attn(x).split(c, dim=2)]
        scores = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf"))
        y = self.attn_dropout(F.softmax(scores, dim=-1)) @ v
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).reshape(b, t, c)))


def get_inputs():
    return [torch.rand(BATCH, STEPS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS, DROP, LONGEST]
