"""gelu(a) * b and gelu(a), where a and b are the halves of x along its last dim.

in   x             f16 bf16 f32
out  y             f16 bf16 f32
out  gelu          f16 bf16 f32
attr dim           int -1
attr approximate   int 0
attr activate_left bool True
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        a, b = torch.chunk(x, 2, dim=-1)
        gelu = nn.functional.gelu(a)
        return gelu * b, gelu


def get_inputs(case):
    return [torch.rand(case["shape"], dtype=getattr(torch, case["dtype"]))]
