"""The matrix product of a and b, summed in float32.

in   a f16
in   b f16
out  c f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.float(), b.float()).to(a.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["m"], case["k"], dtype=dtype) * 2 - 1,
            torch.rand(case["k"], case["n"], dtype=dtype) * 2 - 1]
