"""Product of a tall thin matrix and a short wide one.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

M = 32768
N = 32


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.rand(M, N), torch.rand(N, M)]


def get_init_inputs():
    return []
