# Complex products of pairs.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, a, b):
        x = torch.view_as_complex(a)
        y = torch.view_as_complex(b)
        return torch.view_as_real(x * y)


def get_inputs():
    return [torch.randn(6, 10, 2), torch.randn(6, 10, 2)]


def get_init_inputs():
    return []
