"""Self attention of several heads with its projections.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
LENGTH = 256
WIDTH = 512
HEADS = 8


class Model(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)[0]


def get_inputs():
    return [torch.rand(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
