"""Each tensor of the list over its own scalar.

list x       f16 f32 bf16
in   scalars f32*3
outs y       f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scalars):
        return [(t / s).to(t.dtype) for t, s in zip(x, scalars)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    kind = torch.float32 if dtype.is_floating_point else torch.int64
    scalars = torch.tensor(case["scalars"], dtype=kind)
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]], scalars]
