"""x where x > 0, a small multiple of x elsewhere.

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
    def __init__(self, slope=0.01):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        return F.leaky_relu(x, negative_slope=self.slope)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
