"""a + b / c * scalar for every three tensors of three lists; with bfloat16 the scalar is float32.

list x1     f16 f32 bf16
list x2     f16 f32 bf16
list x3     f16 f32 bf16
in   scalar f16 f32*2
outs y      f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, x3, scalar):
        return [(a + b / c * scalar).to(a.dtype) for a, b, c in zip(x1, x2, x3)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    wide = torch.float32 if dtype == torch.bfloat16 else dtype
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.rand(shape, dtype=dtype) + 100 for shape in case["shapes"]],
            torch.tensor([case["scalar"]], dtype=wide)]
