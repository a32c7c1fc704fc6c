# Elements under a condition.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return x[x > 0]


def get_inputs():
    return [torch.randn(40)]


def get_init_inputs():
    return []
