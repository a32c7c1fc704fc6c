"""The cross product of the vectors of three along dim.

in   x1  f32 f16 i32 i8
in   x2  f32 f16 i32 i8
out  y   f32 f16 i32 i8
attr dim int -65530
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, dim):
        return torch.cross(x1, x2, dim=dim)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype.is_floating_point:
        return [torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype), case["dim"]]
    return [torch.randint(-5, 6, shape, dtype=dtype), torch.randint(-5, 6, shape, dtype=dtype),
            case["dim"]]
