"""Self attention in which groups of heads share keys and values.

category: attention
suite: multikernelbench
level: 1
"""
import math

import torch
import torch.nn as nn

BATCH = 8
LENGTH = 128
WIDTH = 1024
HEADS = 16
KV_HEADS = 4


class Model(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model * num_kv_heads // num_heads)
        self.value = nn.Linear(d_model, d_model * num_kv_heads // num_heads)
        self.out = nn.Linear(d_model, d_model)
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.num_heads
        shared = self.num_heads // self.num_kv_heads
        q = self.query(x).view(batch, length, self.num_heads, size)
        k = self.key(x).view(batch, length, -1, size).repeat_interleave(shared, dim=2)
        v = self.value(x).view(batch, length, -1, size).repeat_interleave(shared, dim=2)
        scores = torch.einsum('bqhd,bkhd->bhqk', q, k) / math.sqrt(size)
        mixed = torch.einsum('bhqk,bkhd->bqhd', torch.softmax(scores, dim=-1), v)
        return self.out(mixed.reshape(batch, length, width))


def get_inputs():
    return [torch.rand(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS, KV_HEADS]
