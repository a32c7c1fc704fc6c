"""a - b * alpha for every pair of tensors of two lists; bfloat16 in float32, rounded at the end.

list x1    f16 f32 i32 bf16
list x2    f16 f32 i32 bf16
in   alpha f16 f32 i32 f32
outs y     f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


def draw(shape, dtype):
    if dtype == torch.int32:
        return torch.randint(-100, 100, shape, dtype=dtype)
    return torch.randn(shape, dtype=dtype)


class Model(nn.Module):
    def forward(self, x1, x2, alpha):
        return [(a - b * alpha).to(a.dtype) for a, b in zip(x1, x2)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    wide = torch.float32 if dtype == torch.bfloat16 else dtype
    return [[draw(shape, dtype) for shape in case["shapes"]],
            [draw(shape, dtype) for shape in case["shapes"]],
            torch.tensor([case["alpha"]], dtype=wide)]
