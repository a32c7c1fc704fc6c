"""One new query against cached keys and values.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
QUERIES = 1
KEYS = 2048
WIDTH = 4096


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    q = torch.rand(BATCH, QUERIES, WIDTH)
    k = torch.rand(BATCH, KEYS, WIDTH)
    v = torch.rand(BATCH, KEYS, WIDTH)
    return [q, k, v]


def get_init_inputs():
    return []
