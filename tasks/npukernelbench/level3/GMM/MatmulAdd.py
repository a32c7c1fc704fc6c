"""The matrix product of a and b plus the matrix c, in float32.

in   a f16
in   b f16
in   c f16
out  d f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, c):
        return (torch.matmul(a.float(), b.float()) + c.float()).to(a.dtype)


def get_inputs(case):
    m, k, n, dtype = case["m"], case["k"], case["n"], getattr(torch, case["dtype"])
    return [torch.rand(m, k, dtype=dtype) * 2 - 1, torch.rand(k, n, dtype=dtype) * 2 - 1,
            torch.rand(m, n, dtype=dtype) * 2 - 1]
