# A transposed tensor added.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, y):
        return x.transpose(1, 2) + y


def get_inputs():
    return [torch.randn(3, 40, 50), torch.randn(3, 50, 40)]


def get_init_inputs():
    return []
