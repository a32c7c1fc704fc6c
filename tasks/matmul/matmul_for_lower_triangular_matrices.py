"""Product of two lower triangular matrices.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

N = 4096


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a @ b)


def get_inputs():
    return [torch.rand(N, N).tril(), torch.rand(N, N).tril()]


def get_init_inputs():
    return []
