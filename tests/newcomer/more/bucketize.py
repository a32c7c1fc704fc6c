import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, b):
        return torch.bucketize(x, b)


def get_inputs():
    return [torch.randn(100, 33), torch.linspace(-2, 2, 17)]


def get_init_inputs():
    return []
