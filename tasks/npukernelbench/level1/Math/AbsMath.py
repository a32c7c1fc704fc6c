"""The magnitude of each element; of a complex number as a complex number.

in   x bf16 f16 f32 i32 i64 c64
out  y bf16 f16 f32 i32 i64 c64
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.abs(x).to(x.dtype)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype == torch.complex64:
        return [torch.complex(torch.randn(shape), torch.randn(shape))]
    if dtype in (torch.int32, torch.int64):
        return [torch.randint(-100, 100, shape, dtype=dtype)]
    return [torch.randn(shape, dtype=dtype)]
