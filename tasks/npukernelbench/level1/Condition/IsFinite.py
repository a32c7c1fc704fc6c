"""Whether an element is neither infinite nor NaN.

in   x f16 f32 bf16
out  y bool*3
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.isfinite(x)


def get_inputs(case):
    x = torch.rand(case["shape"]).to(getattr(torch, case["dtype"]))
    flat, n = x.view(-1), x.numel()
    for k, value in enumerate([float("inf"), -float("inf"), float("nan"), 0.0]):
        flat[k * n // 5] = value
    return [x]
