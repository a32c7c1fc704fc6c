import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, a, b, y):
        return torch.addr(x, a, b, beta=0.5, alpha=2), torch.kron(x, y), torch.vander(a), torch.vander(a, 3, True)


def get_inputs():
    return [torch.randn(10, 33), torch.randn(10), torch.randn(33), torch.randn(2, 3)]


def get_init_inputs():
    return []
