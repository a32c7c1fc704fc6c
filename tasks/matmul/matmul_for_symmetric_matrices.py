"""Product of two symmetric matrices.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

N = 4096


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    a, b = torch.rand(N, N), torch.rand(N, N)
    return [(a + a.T) / 2, (b + b.T) / 2]


def get_init_inputs():
    return []
