# A grid of two vectors.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, a, b):
        x, y = torch.meshgrid(a, b, indexing='ij')
        return x * y + x


def get_inputs():
    return [torch.randn(12), torch.randn(15)]


def get_init_inputs():
    return []
