"""One over the square root of each element.

in   x f16 f32 bf16
out  y f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.rsqrt(x)


def get_inputs(case):
    return [torch.rand(case["shape"], dtype=getattr(torch, case["dtype"])) * 1000 + 1]
