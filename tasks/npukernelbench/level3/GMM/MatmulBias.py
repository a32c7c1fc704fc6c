"""The matrix product of a and b plus a row, in float32.

in   a    f16
in   b    f16
in   bias f16
out  d    f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, bias):
        return (torch.matmul(a.float(), b.float()) + bias.float()).to(a.dtype)


def get_inputs(case):
    m, k, n, dtype = case["m"], case["k"], case["n"], getattr(torch, case["dtype"])
    return [torch.rand(m, k, dtype=dtype) * 2 - 1, torch.rand(k, n, dtype=dtype) * 2 - 1,
            torch.rand(n, dtype=dtype) * 2 - 1]
