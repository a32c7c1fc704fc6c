"""x * sigmoid(x * scale).

in   x     f16 f32 bf16
out  y     f16 f32 bf16
attr scale float 1.0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale):
        return x * torch.sigmoid(x * scale)


def get_inputs(case):
    return [torch.randn(case["shape"], dtype=getattr(torch, case["dtype"])), case["scale"]]
