"""Piecewise linear sigmoid: x / 6 + 1 / 2, kept between 0 and 1.

category: activation
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 4096
COLS = 393216


class Model(nn.Module):
    def forward(self, x):
        return F.hardsigmoid(x)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
