"""A matrix times a column.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

M = 2048
K = 1048576


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.rand(M, K), torch.rand(K, 1)]


def get_init_inputs():
    return []
