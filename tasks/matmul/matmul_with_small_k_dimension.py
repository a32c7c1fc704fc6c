"""Product of a tall and a wide matrix: a short sum for each element.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

M = 32768
K = 64
N = 32768


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs():
    return []
