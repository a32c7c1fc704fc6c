# A filter over windows.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, w):
        u = x.unfold(2, 5, 1)
        return (u * w.view(1, -1, 1, 5)).sum(-1)


def get_inputs():
    return [torch.randn(2, 6, 40), torch.randn(6, 5)]


def get_init_inputs():
    return []
