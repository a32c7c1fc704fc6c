import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, t):
        return torch.trapezoid(x), torch.trapezoid(x, dx=0.5, dim=0), torch.trapezoid(x, t), torch.cumulative_trapezoid(x, dim=1), torch.cumulative_trapezoid(x, t)


def get_inputs():
    return [torch.randn(10, 33), torch.sort(torch.randn(33))[0]]


def get_init_inputs():
    return []
