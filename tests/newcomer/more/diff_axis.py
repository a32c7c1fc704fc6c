# Neighbours subtracted, then summed over two dimensions.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return torch.diff(x, dim=1).abs().sum(dim=(0, 1))


def get_inputs():
    return [torch.randn(4, 30, 20)]


def get_init_inputs():
    return []
