"""The quotient of two elements, for every pair of tensors of two lists.

list x1 f16 f32 bf16
list x2 f16 f32 bf16
outs y  f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2):
        return [a / b for a, b in zip(x1, x2)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.rand(shape, dtype=dtype) + 1 for shape in case["shapes"]]]
