"""The sum of the magnitudes of n elements incx apart.

in   x      f32
out  result f32
attr n      int 0
attr incx   int 1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, n, incx):
        return x[: n * incx : incx].abs().sum()


def get_inputs(case):
    return [torch.rand(case["shape"], dtype=getattr(torch, case["dtype"])), case["n"], case["incx"]]
