# Rotary embedding by pairs.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, cos, sin):
        a = x[..., 0::2]
        b = x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def get_inputs():
    return [torch.randn(2, 4, 16, 32), torch.randn(16, 16), torch.randn(16, 16)]


def get_init_inputs():
    return []
