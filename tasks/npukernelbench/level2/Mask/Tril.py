"""x with 0 above the given diagonal. The suite draws the diagonal from -1, 0 and 1.

in   x        f16 f32
out  y        f16 f32
attr diagonal int 0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, diagonal):
        return torch.tril(x, diagonal)


def get_inputs(case):
    diagonal = case["shape"][-1] % 3 - 1
    return [torch.randn(case["shape"], dtype=getattr(torch, case["dtype"])), diagonal]
