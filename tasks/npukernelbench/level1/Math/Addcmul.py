"""input_data + x1 * x2 * value; for bfloat16 in float32, rounded once at the end.

in   input_data f16 f32 i32 bf16
in   x1         f16 f32 i32 bf16
in   x2         f16 f32 i32 bf16
in   value      f16 f32 i32 bf16
out  y          f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, input_data, x1, x2, value):
        wide = torch.float32 if input_data.dtype == torch.bfloat16 else input_data.dtype
        total = input_data.to(wide) + x1.to(wide) * x2.to(wide) * value.to(wide)
        return total.to(input_data.dtype)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype == torch.int32:
        drawn = [torch.randint(-2, 3, shape, dtype=dtype) for _ in range(3)]
        return drawn + [torch.tensor(2, dtype=dtype)]
    drawn = [torch.rand(shape, dtype=dtype) * 5 - 2.5 for _ in range(3)]
    return drawn + [torch.tensor(0.5, dtype=dtype)]
