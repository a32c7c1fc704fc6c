"""sigmoid(input * mulscalar1) * mulscalar2 + addscalar3.

in   input      f16 f32 bf16
in   mulscalar1 f16 f32 bf16
in   mulscalar2 f16 f32 bf16
in   addscalar3 f16 f32 bf16
out  outputs    f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, input, mulscalar1, mulscalar2, addscalar3):
        return 1 / (1 + torch.exp(-(input * mulscalar1))) * mulscalar2 + addscalar3


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    x = torch.randn(case["shape"], dtype=dtype)
    return [x] + [torch.randn(1, dtype=dtype) for _ in range(3)]
