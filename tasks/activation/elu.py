"""Exponential linear unit: x where x > 0, alpha * (exp(x) - 1) elsewhere.

category: activation
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 4096
COLS = 393216


class Model(nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return F.elu(x, alpha=self.alpha)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return [1.0]
