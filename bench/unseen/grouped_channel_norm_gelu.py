"""Norm over groups of features inside each token, then GELU.

category: norm
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 2000
GROUPS = 8
WIDTH = 128


class Model(nn.Module):
    def __init__(self, groups, features):
        super().__init__()
        self.groups = groups
        self.weight = nn.Parameter(torch.rand(features))
        self.bias = nn.Parameter(torch.rand(features))

    def forward(self, x):
        g = x.view(x.shape[0], self.groups, -1)
        mean = g.mean(-1, keepdim=True)
        var = g.var(-1, keepdim=True, unbiased=False)
        y = (g - mean) / torch.sqrt(var + 1e-5)
        return F.gelu(y.reshape(x.shape[0], -1) * self.weight + self.bias)


def get_inputs():
    return [torch.randn(TOKENS, GROUPS * WIDTH)]


def get_init_inputs():
    return [GROUPS, GROUPS * WIDTH]
