# A matrix by a vector, written with letters.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, w, b):
        h = torch.einsum('bc,c->b', x, w) + b
        return torch.sigmoid(h)


def get_inputs():
    return [torch.randn(40, 30), torch.randn(30), torch.randn(1)]


def get_init_inputs():
    return []
