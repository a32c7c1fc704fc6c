"""The elements of x at which mask is set, in order.

in   x    bool i8 u8 f16 bf16 i16 u16 f32 i32 u32 u64 i64 f64
in   mask bool*13
out  y    bool i8 u8 f16 bf16 i16 u16 f32 i32 u32 u64 i64 f64
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.masked_select(x, mask)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype.is_floating_point:
        x = torch.randn(shape, dtype=dtype)
    else:
        x = torch.randint(0, 100, shape, dtype=dtype)
    return [x, torch.randint(0, 2, shape, dtype=torch.bool)]
