"""A tensor of four axes times a matrix, over its last axis.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 8
ROWS = 256
COLS = 512
K = 256
N = 768


class Model(nn.Module):
    def forward(self, a, b):
        return torch.einsum('bijl,lk->bijk', a, b)


def get_inputs():
    return [torch.rand(BATCH, ROWS, COLS, K), torch.rand(K, N)]


def get_init_inputs():
    return []
