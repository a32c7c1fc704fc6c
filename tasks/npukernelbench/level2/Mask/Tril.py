"""x with 0 above the given diagonal, which is drawn from -1, 0 and 1.

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
    x = torch.randn(case["shape"], dtype=getattr(torch, case["dtype"]))
    return [x, torch.randint(-1, 2, (1,)).item()]
