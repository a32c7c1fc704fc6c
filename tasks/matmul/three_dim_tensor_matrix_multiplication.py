"""A tensor of three axes times a matrix, over its last axis.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
ROWS = 1024
K = 2048
N = 768


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.rand(BATCH, ROWS, K), torch.rand(K, N)]


def get_init_inputs():
    return []
