"""Each tensor of the list plus its own scalar, summed in float32.

list x       f16 f32 i32 bf16
in   scalars f32*2 i64 f32
outs y       f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


def draw(shape, dtype):
    if dtype == torch.int32:
        return torch.randint(-100, 100, shape, dtype=dtype)
    return torch.rand(shape, dtype=dtype)


class Model(nn.Module):
    def forward(self, x, scalars):
        return [(t.float() + s).to(t.dtype) for t, s in zip(x, scalars)]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    kind = torch.float32 if dtype.is_floating_point else torch.int64
    scalars = torch.tensor(case["scalars"], dtype=kind)
    return [[draw(shape, dtype) for shape in case["shapes"]], scalars]
