"""The gradient of gelu(a) * b by x, where a and b are the halves of x along dim; approximate is 0
for the error function, 1 for the tanh form. gelu holds gelu(a). The suite's reference takes a
from the left half whatever activate_left says, and rounds dy * b and gelu(a) to the type of x.

in   dy            f16 bf16 f32
in   x             f16 bf16 f32
in   gelu          f16 bf16 f32
out  dx            f16 bf16 f32
attr dim           int -1
attr approximate   int 1
attr activate_left bool False
"""
import torch
import torch.nn as nn


def gelu_slope(a, approximate):
    if approximate == 1:
        t = torch.tanh(0.7978845608028654 * (a + 0.044715 * (a * a * a)))
        slope = 0.7978845608028654 * (1 + 0.134145 * (a * a))
        return 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * slope
    below = 0.5 * (1 + torch.erf(a * 0.7071067811865476))
    return below + a * (torch.exp(-0.5 * (a * a)) * 0.3989422804014327)


class Model(nn.Module):
    def forward(self, dy, x, gelu, dim, approximate):
        a, b = torch.chunk(x, 2, dim=dim)
        value = nn.functional.gelu(a, approximate="tanh" if approximate == 1 else "none")
        left = (dy * b).float() * gelu_slope(a.float(), approximate)
        return torch.cat([left.to(x.dtype), dy * value], dim=dim)


def get_inputs(case):
    shape, dim, dtype = case["shape"], case["dim"], getattr(torch, case["dtype"])
    whole = list(shape)
    whole[dim] = whole[dim] * 2
    x = torch.rand(whole, dtype=dtype)
    form = "tanh" if case["approximate"] == 1 else "none"
    gelu = nn.functional.gelu(torch.chunk(x, 2, dim=dim)[0], approximate=form)
    return [torch.rand(shape, dtype=dtype), x, gelu, dim, case["approximate"]]
