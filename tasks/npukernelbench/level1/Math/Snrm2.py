"""The Euclidean length of n elements incx apart.

in   x      f32
out  result f32
attr n      int 0
attr incx   int 1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, n, incx):
        part = x[: n * incx : incx]
        return torch.sqrt(torch.sum(part * part))


def get_inputs(case):
    x = torch.rand(case["shape"], dtype=getattr(torch, case["dtype"])) * 200 - 100
    return [x, case["n"], case["incx"]]
