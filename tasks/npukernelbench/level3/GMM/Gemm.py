"""alpha a b + beta c, written over c.

in   a     f32
in   b     f32
in   c     f32
attr alpha float
attr beta  float
mut  c     f32
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, c, alpha, beta):
        return torch.matmul(alpha * a, b) + beta * c


def get_inputs(case):
    m, k, n, dtype = case["m"], case["k"], case["n"], getattr(torch, case["dtype"])
    return [torch.rand(m, k, dtype=dtype) * 2 - 1, torch.rand(k, n, dtype=dtype) * 2 - 1,
            torch.rand(m, n, dtype=dtype) * 2 - 1,
            (torch.rand(1) * 2 - 1).item(), (torch.rand(1) * 2 - 1).item()]
