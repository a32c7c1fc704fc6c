"""start + weight * (end - start), element by element.

in   start  f16 f32
in   end    f16 f32
in   weight f16 f32
out  y      f16 f32
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, start, end, weight):
        return torch.lerp(start, end, weight)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.rand(shape, dtype=dtype) for _ in range(3)]
