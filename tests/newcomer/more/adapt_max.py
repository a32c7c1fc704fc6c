import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.adaptive_max_pool2d(x, (5, 3))


def get_inputs():
    return [torch.randn(2, 16, 31, 33)]


def get_init_inputs():
    return []
