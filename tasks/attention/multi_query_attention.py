"""Self attention in which all heads share one key and one value.

category: attention
suite: multikernelbench
level: 1
"""
import math

import torch
import torch.nn as nn

BATCH = 2
LENGTH = 4096
WIDTH = 4096
HEADS = 32


class Model(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model // num_heads)
        self.value = nn.Linear(d_model, d_model // num_heads)
        self.out = nn.Linear(d_model, d_model)
        self.num_heads = num_heads

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.num_heads
        q = self.query(x).view(batch, length, self.num_heads, size)
        k, v = self.key(x), self.value(x)
        scores = torch.einsum('bqhd,bkd->bhqk', q, k) / math.sqrt(size)
        mixed = torch.einsum('bhqk,bkd->bqhd', torch.softmax(scores, dim=-1), v)
        return self.out(mixed.reshape(batch, length, width))


def get_inputs():
    return [torch.rand(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
