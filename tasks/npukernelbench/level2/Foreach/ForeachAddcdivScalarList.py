"""a + b / c * s for every three tensors of three lists, s from a list of scalars.

list x1      f16 f32 bf16
list x2      f16 f32 bf16
list x3      f16 f32 bf16
in   scalars f16 f32 bf16
outs y       f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, x3, scalars):
        return [a + b / c * s for a, b, c, s in zip(x1, x2, x3, scalars)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            [torch.rand(shape, dtype=dtype) + 1 for shape in case["shapes"]],
            torch.tensor(case["scalars"], dtype=dtype)]
