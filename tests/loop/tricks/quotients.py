"""Quotients."""
import torch
import torch.nn as nn

COUNT = 1 << 22


class Model(nn.Module):
    def forward(self, x, y):
        return x / y


def get_inputs():
    return [torch.randn(COUNT), torch.randn(COUNT)]


def get_init_inputs():
    return []
