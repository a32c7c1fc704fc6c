# Rotary embedding by halves.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, cos, sin):
        h = x.shape[-1] // 2
        r = torch.cat([-x[..., h:], x[..., :h]], dim=-1)
        return x * cos + r * sin


def get_inputs():
    return [torch.randn(2, 4, 16, 32), torch.randn(16, 32), torch.randn(16, 32)]


def get_init_inputs():
    return []
