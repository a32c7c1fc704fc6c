"""The gradient of silu(a) * b by x, where a and b are the halves of x along dim, in float32.

in   y_grad f16 f32 bf16
in   x      f16 f32 bf16
out  x_grad f16 f32 bf16
attr dim    int -1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, y_grad, x, dim):
        a, b = torch.chunk(x.float(), 2, dim=dim)
        dy, s = y_grad.float(), torch.sigmoid(a)
        left = dy * b * (s * (1 + a * (1 - s)))
        return torch.cat([left, dy * (a * s)], dim=dim).to(x.dtype)


def get_inputs(case):
    shape, dim, dtype = case["shape"], case["dim"], getattr(torch, case["dtype"])
    half = list(shape)
    half[dim] = half[dim] // 2
    return [torch.rand(half, dtype=dtype), torch.rand(shape, dtype=dtype), dim]
