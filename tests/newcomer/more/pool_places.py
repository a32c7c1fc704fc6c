import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass

    def forward(self, x):
        return F.max_pool2d(x, 3, 2, 1, return_indices=True)


def get_inputs():
    return [torch.randn(2, 8, 31, 33)]


def get_init_inputs():
    return []
