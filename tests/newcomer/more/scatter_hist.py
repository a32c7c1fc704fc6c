# Values added at numbers.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, idx, v):
        return torch.zeros(20).index_add(0, idx, v)


def get_inputs():
    return [torch.randint(0, 20, (500,)), torch.randn(500)]


def get_init_inputs():
    return []
