import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, y):
        return torch.aminmax(x)[0], torch.aminmax(x, dim=1)[1], x.dist(y), torch.dist(x, y, 1)


def get_inputs():
    return [torch.randn(10, 33), torch.randn(10, 33)]


def get_init_inputs():
    return []
