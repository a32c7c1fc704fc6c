# Infinities made finite, then clamped.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return torch.nan_to_num(x / (x - x.round())).clamp(-5, 5)


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return []
