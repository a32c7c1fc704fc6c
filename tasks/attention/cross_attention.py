"""Attention of several heads: queries from one sequence, keys and values from another.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
QUERIES = 64
KEYS = 128
WIDTH = 512
HEADS = 8


class Model(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, q, kv):
        return self.attention(q, kv, kv)[0]


def get_inputs():
    return [torch.rand(BATCH, QUERIES, WIDTH), torch.rand(BATCH, KEYS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
