"""Largest minus smallest of each pair of rows in a sliding window of two.

category: pooling
pattern: window
"""
import torch
import torch.nn as nn

BATCH = 64
HEIGHT = 1025
WIDTH = 2048


class Model(nn.Module):
    def forward(self, x):
        upper, lower = x[:, 1:], x[:, :-1]
        return torch.maximum(upper, lower) - torch.minimum(upper, lower)


def get_inputs():
    return [torch.randn(BATCH, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
