# Rows quantised to int8 with their scales.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        s = x.abs().amax(dim=-1, keepdim=True) / 127.0
        q = torch.round(x / s).clamp(-128, 127).to(torch.int8)
        return q, s


def get_inputs():
    return [torch.randn(40, 96)]


def get_init_inputs():
    return []
