"""Twice the sum of x and y; x becomes the sum unless it is to be kept.

in   x     f32
in   y     f32
out  x     f32
out  twice f32
attr keep  bool False
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, keep):
        total = x + y
        return x.clone() if keep else total, 2 * total


def get_inputs():
    return [torch.rand(8, 64), torch.rand(8, 64), False]
