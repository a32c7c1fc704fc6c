"""Whether x1 and x2 are equal, element by element.

in   x1 f16 bf16 f32 i8 u8 i32 u32
in   x2 f16 bf16 f32 i8 u8 i32 u32
out  y  bool*7
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2):
        return x1 == x2


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if not dtype.is_floating_point:
        return [torch.randint(0, 5, shape, dtype=dtype), torch.randint(0, 5, shape, dtype=dtype)]
    return [torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype)]
