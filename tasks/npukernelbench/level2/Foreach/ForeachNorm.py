"""The p-norm of every tensor of the list, in float32; p is the scalar.

list x      f16*2 f32*2 bf16*2
in   scalar f32 i64 f32 i64 f32 i64
outs y      f16*2 f32*2 bf16*2
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scalar):
        return [torch.norm(t.float(), p=float(scalar.item())).to(t.dtype) for t in x]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[torch.rand(shape, dtype=dtype) for shape in case["shapes"]], torch.tensor([case["p"]])]
