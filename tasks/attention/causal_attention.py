"""Self attention in which a position sees itself and what came before.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 32
LENGTH = 64
WIDTH = 512
HEADS = 4


class Model(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, x):
        length = x.shape[1]
        later = torch.ones(length, length).triu(1).bool()
        return self.attention(x, x, x, attn_mask=later)[0]


def get_inputs():
    return [torch.rand(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
