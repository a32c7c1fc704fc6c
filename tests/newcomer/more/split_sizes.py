# Parts of unequal size, reduced each its own way.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        a, b, c = torch.split(x, [3, 5, 4], dim=1)
        return a.sum(1) + b.mean(1) * c.amax(1)


def get_inputs():
    return [torch.randn(20, 12)]


def get_init_inputs():
    return []
