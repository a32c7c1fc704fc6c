"""dy times the derivative of gelu's tanh form at x, in float32; NaN counts as 0. y, the value of
gelu, is not needed.

in   dy f32 f16 bf16
in   x  f32 f16 bf16
in   y  f32 f16 bf16
out  z  f32 f16 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dy, x, y):
        wide = x.float()
        square = wide * wide
        e = torch.exp((square * -0.07135481627260025 - 1.5957691216057308) * wide)
        inner = (square * 0.2140644488178007 + 1.5957691216057308) * wide
        part = 1.0 / (e + 1.0)
        slope = torch.nan_to_num(e * inner * part.pow(2) + part, nan=0.0)
        return (dy.float() * slope).to(x.dtype)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    x = torch.rand(shape, dtype=dtype)
    return [torch.rand(shape, dtype=dtype), x, nn.functional.gelu(x, approximate="tanh")]
