"""alpha a x + beta y, for a matrix a and vectors x and y.

in   a     f32
in   x     f32
in   y     f32
attr alpha float
attr beta  float
out  out   f32
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, x, y, alpha, beta):
        return alpha * (a @ x) + beta * y


def get_inputs(case):
    m, n, dtype = case["m"], case["n"], getattr(torch, case["dtype"])
    return [torch.rand(m, n, dtype=dtype) * 2 - 1, torch.rand(n, dtype=dtype) * 2 - 1,
            torch.rand(m, dtype=dtype) * 2 - 1,
            (torch.rand(1) * 2 - 1).item(), (torch.rand(1) * 2 - 1).item()]
