"""log(1 + (a - b)^2), element by element.

category: math
pattern: flat
"""
import torch
import torch.nn as nn

COUNT = 1 << 23


class Model(nn.Module):
    def forward(self, a, b):
        return torch.log1p((a - b) * (a - b))


def get_inputs():
    return [torch.randn(COUNT), torch.randn(COUNT)]


def get_init_inputs():
    return []
