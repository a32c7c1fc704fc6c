import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, y, z):
        return torch.tensordot(x, y, dims=2), torch.tensordot(x, z, dims=([0, 2], [1, 0]))


def get_inputs():
    return [torch.randn(4, 5, 6), torch.randn(5, 6, 7), torch.randn(6, 4, 3)]


def get_init_inputs():
    return []
