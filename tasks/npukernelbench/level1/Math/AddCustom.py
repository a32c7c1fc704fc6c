"""The sum of x and y.

in   x f16
in   y f16
out  z f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x + y


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype)]
