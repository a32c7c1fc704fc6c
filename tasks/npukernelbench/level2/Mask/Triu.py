"""x with 0 below the given diagonal.

in   x        f16 f32
out  y        f16 f32
attr diagonal int 0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, diagonal):
        return torch.triu(x, diagonal)


def get_inputs(case):
    return [torch.randn(case["shape"], dtype=getattr(torch, case["dtype"])), case["diagonal"]]
