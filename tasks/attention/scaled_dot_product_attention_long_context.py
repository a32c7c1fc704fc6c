"""softmax(q k^T / sqrt(d)) v for one long sequence.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
LENGTH = 16384
WIDTH = 12288


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    q = torch.rand(BATCH, LENGTH, WIDTH)
    k = torch.rand(BATCH, LENGTH, WIDTH)
    v = torch.rand(BATCH, LENGTH, WIDTH)
    return [q, k, v]


def get_init_inputs():
    return []
