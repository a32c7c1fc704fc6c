"""Whether x1 is less than x2, element by element.

in   x1 bf16 f16 f32 i8 u8 i32 i64
in   x2 bf16 f16 f32 i8 u8 i32 i64
out  y  bool*7
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2):
        return x1 < x2


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    if dtype.is_floating_point:
        return [torch.randn(case["x1"], dtype=dtype), torch.randn(case["x2"], dtype=dtype)]
    low = 0 if dtype == torch.uint8 else -100
    return [torch.randint(low, 100, case["x1"], dtype=dtype),
            torch.randint(low, 100, case["x2"], dtype=dtype)]
