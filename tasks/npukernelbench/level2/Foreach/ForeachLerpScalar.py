"""a + weight * (b - a) for every pair of tensors of two lists, in float32.

list x1     f16 f32 bf16
list x2     f16 f32 bf16
in   weight f32*3
outs y      f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, weight):
        return [torch.lerp(a.float(), b.float(), weight).to(a.dtype) for a, b in zip(x1, x2)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[torch.rand(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.rand(shape, dtype=dtype) for shape in case["shapes"]],
            torch.tensor([case["weight"]])]
