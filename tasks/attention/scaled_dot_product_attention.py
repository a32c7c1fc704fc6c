"""softmax(q k^T / sqrt(d)) v for a batch of heads.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 32
HEADS = 32
LENGTH = 512
WIDTH = 1024


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    q = torch.rand(BATCH, HEADS, LENGTH, WIDTH)
    k = torch.rand(BATCH, HEADS, LENGTH, WIDTH)
    v = torch.rand(BATCH, HEADS, LENGTH, WIDTH)
    return [q, k, v]


def get_init_inputs():
    return []
