"""The sum of x and y, whose sizes fill no whole block.

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
    return [torch.randn(shape, dtype=dtype) * 2 - 1, torch.randn(shape, dtype=dtype) * 2 - 1]
