"""The matrix products of a batch of pairs, summed in float32.

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
    batch, dtype = case["batch"], getattr(torch, case["dtype"])
    return [torch.rand(batch, case["m"], case["k"], dtype=dtype) * 2 - 1,
            torch.rand(batch, case["k"], case["n"], dtype=dtype) * 2 - 1]
