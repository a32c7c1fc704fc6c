"""Product of a wide and a tall matrix: a long sum for each element.

category: matmul
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

M = 256
K = 524288
N = 256


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs():
    return []
