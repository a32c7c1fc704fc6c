"""The larger of two elements, for every pair of tensors of two lists.

list x1 f16 f32 i32 bf16
list x2 f16 f32 i32 bf16
outs y  f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


def draw(shape, dtype):
    if dtype == torch.int32:
        return torch.randint(-100, 100, shape, dtype=dtype)
    return torch.randn(shape, dtype=dtype)


class Model(nn.Module):
    def forward(self, x1, x2):
        return [torch.maximum(a, b) for a, b in zip(x1, x2)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[draw(shape, dtype) for shape in case["shapes"]],
            [draw(shape, dtype) for shape in case["shapes"]]]
