"""Every tensor of the list less one scalar; with bfloat16 the scalar is float32 and so is the step
before the last rounding.

list x      f16 f32 i32 bf16
in   scalar f16 f32 i32 f32
outs y      f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


def draw(shape, dtype):
    if dtype == torch.int32:
        return torch.randint(-100, 100, shape, dtype=dtype)
    return torch.randn(shape, dtype=dtype)


class Model(nn.Module):
    def forward(self, x, scalar):
        return [(t - scalar).to(t.dtype) for t in x]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    wide = torch.float32 if dtype == torch.bfloat16 else dtype
    return [[draw(shape, dtype) for shape in case["shapes"]],
            torch.tensor([case["scalar"]], dtype=wide)]
