# Counting the bounds below.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, b):
        return (x.unsqueeze(-1) > b).sum(-1)


def get_inputs():
    return [torch.randn(10, 12), torch.tensor([-1.0, 0.0, 1.0])]


def get_init_inputs():
    return []
