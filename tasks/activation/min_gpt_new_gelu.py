"""GELU by its tanh formula, as small GPT code writes it.

category: activation
suite: multikernelbench
level: 1
"""
import math

import torch
import torch.nn as nn

ROWS = 8192
COLS = 8192


class Model(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
