"""One scalar to the power of each element, for every tensor of the list.

in   scalar f32*2 i64 f32
list x      f16 f32 i32 bf16
outs y      f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, scalar, x):
        result = []
        for t in x:
            wide = torch.float32 if t.is_floating_point() else t.dtype
            result.append(torch.pow(scalar.to(wide), t.to(wide)).to(t.dtype))
        return result


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.tensor([case["scalar"]]),
            [torch.rand(shape, dtype=dtype) for shape in case["shapes"]]]
