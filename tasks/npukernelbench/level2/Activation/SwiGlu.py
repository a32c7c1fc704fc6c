"""silu(a) * b, where a and b are the halves of x along dim.

in   x   f16 f32 bf16
out  y   f16 f32 bf16
attr dim int -1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, dim):
        a, b = torch.chunk(x, 2, dim=dim)
        return nn.functional.silu(a) * b


def get_inputs(case):
    return [torch.rand(case["shape"], dtype=getattr(torch, case["dtype"])), case["dim"]]
