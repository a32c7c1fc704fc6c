# A tensor written under a mask.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, m):
        y = x.clone()
        y[m] = 0.0
        return y


def get_inputs():
    return [torch.randn(10, 12), torch.randint(0, 2, (10, 12)).bool()]


def get_init_inputs():
    return []
