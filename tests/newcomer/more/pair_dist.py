# Distances of all pairs.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, a, b):
        return torch.sqrt(((a.unsqueeze(1) - b.unsqueeze(0)) ** 2).sum(-1) + 1e-9)


def get_inputs():
    return [torch.randn(30, 17), torch.randn(25, 17)]


def get_init_inputs():
    return []
