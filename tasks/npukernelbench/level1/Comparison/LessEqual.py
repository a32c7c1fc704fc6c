"""Whether x1 is at most x2, element by element.

in   x1 f16 f32 i8 i32
in   x2 f16 f32 i8 i32
out  y  bool*4
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2):
        return x1 <= x2


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.randint(-10, 10, shape, dtype=dtype), torch.randint(-10, 10, shape, dtype=dtype)]
