"""x times one number.

in   x     bf16 f16 f32 i32 i16 i64 c64
in   value f32*7
out  y     bf16 f16 f32 i32 i16 i64 c64
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, value):
        return (x * value).to(x.dtype)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype == torch.complex64:
        x = torch.complex(torch.randn(shape), torch.randn(shape))
    elif dtype.is_floating_point:
        x = torch.randn(shape, dtype=dtype)
    else:
        x = torch.randint(-100, 100, shape, dtype=dtype)
    return [x, torch.tensor([float(case["value"])])]
