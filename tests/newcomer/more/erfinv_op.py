# The inverse error function.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return torch.erfinv(x) * 1.4142


def get_inputs():
    return [torch.rand(20, 30) * 1.9 - 0.95]


def get_init_inputs():
    return []
