"""a + b * alpha for every pair of tensors of two lists; bfloat16 in float32, rounded at the end.

list x1    f16 f32 i32 bf16
list x2    f16 f32 i32 bf16
in   alpha f16 f32 i32 f32
outs y     f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, alpha):
        result = []
        for a, b in zip(x1, x2):
            wide = torch.float32 if a.dtype == torch.bfloat16 else a.dtype
            result.append((a.to(wide) + b.to(wide) * alpha).to(a.dtype))
        return result


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    wide = torch.float32 if dtype == torch.bfloat16 else dtype
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            torch.tensor([case["alpha"]], dtype=wide)]
