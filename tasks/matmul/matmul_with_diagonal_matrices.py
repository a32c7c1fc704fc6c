"""A diagonal matrix, given by its diagonal, times a matrix.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

M = 4096
N = 4096


class Model(nn.Module):
    def forward(self, a, b):
        return torch.diag(a) @ b


def get_inputs():
    return [torch.rand(N), torch.rand(N, M)]


def get_init_inputs():
    return []
