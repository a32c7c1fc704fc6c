"""Relative fall below the running maximum of each series, and the largest one."""
import torch
import torch.nn as nn

SERIES = 700
STEPS = 3001


class Model(nn.Module):
    def forward(self, price):
        peak = torch.cummax(price, dim=1).values
        fall = (peak - price) / peak
        return fall, fall.amax(dim=1)


def get_inputs():
    return [torch.rand(SERIES, STEPS) + 0.5]


def get_init_inputs():
    return []
