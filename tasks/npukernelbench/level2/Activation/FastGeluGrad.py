"""dy times the derivative of the fast gelu: with e = exp(-1.702 |x|), (e + 1.702 x e + exp(1.702
(x - |x|))) / (1 + e)^2.

in   dy f32 f16
in   x  f32 f16
out  z  f32 f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dy, x):
        size = x.abs()
        e = torch.exp(size * -1.702)
        top = e + x * e * 1.702 + torch.exp((x - size) * 1.702)
        return dy * (top / (e + 1.0) ** 2)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.rand(shape, dtype=dtype), torch.rand(shape, dtype=dtype)]
