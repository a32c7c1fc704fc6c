"""The negative of each element.

in   x f32 f16 bf16 i32 i8
out  y f32 f16 bf16 i32 i8
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return -x


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype.is_floating_point:
        return [torch.randn(shape, dtype=dtype)]
    return [torch.randint(-100, 100, shape, dtype=dtype)]
