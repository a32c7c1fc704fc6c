"""Largest fall below the running maximum, for each series.

category: cumulative
"""
import torch
import torch.nn as nn

SERIES = 1024
TIME = 3000


class Model(nn.Module):
    def forward(self, x):
        top = torch.cummax(x, dim=1).values
        return ((top - x) / top).amax(dim=1)


def get_inputs():
    return [torch.rand(SERIES, TIME) + 1.0]


def get_init_inputs():
    return []
