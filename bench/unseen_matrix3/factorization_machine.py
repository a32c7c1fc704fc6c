"""Factorization machine: a linear term, and all pairs of features through the square of a sum."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 256
FEATURES = 100
RANK = 24


class Model(nn.Module):
    def __init__(self, features, rank):
        super().__init__()
        self.first = nn.Linear(features, 1)
        self.factors = nn.Parameter(torch.randn(features, rank) * 0.1)

    def forward(self, x):
        linear = self.first(x)
        both = torch.matmul(x, self.factors)
        apart = torch.matmul(x * x, self.factors * self.factors)
        return torch.sigmoid(linear + 0.5 * (both * both - apart).sum(dim=1, keepdim=True))


def get_inputs():
    return [torch.randn(BATCH, FEATURES)]


def get_init_inputs():
    return [FEATURES, RANK]
