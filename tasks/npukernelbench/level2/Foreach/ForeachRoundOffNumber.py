"""Rounds each element, for every tensor of the list: mode 1 to nearest, ties to even; 2 down; 3
up; 4 to nearest, ties away from 0; 5 towards 0; 6 to nearest, ties to odd; 7 keeps the fraction
only.

list x         f16 f32 bf16
in   roundMode f16 f32*2
outs y         f16 f32 bf16
"""
import torch
import torch.nn as nn


def rounded(t, mode):
    if mode == 1:
        return torch.round(t)
    if mode == 2:
        return torch.floor(t)
    if mode == 3:
        return torch.ceil(t)
    if mode == 4:
        return torch.where(t >= 0, (t + 0.5).floor(), (t - 0.5).ceil())
    if mode == 5:
        return torch.trunc(t)
    if mode == 6:
        whole = torch.trunc(t)
        odd = torch.where(whole % 2 == 0, whole + torch.sign(t), whole)
        return torch.where((t - whole).abs() == 0.5, odd, torch.round(t))
    if mode == 7:
        return torch.frac(t)
    return t


class Model(nn.Module):
    def forward(self, x, roundMode):
        mode = int(roundMode.item())
        return [rounded(t, mode) for t in x]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    wide = torch.float32 if dtype == torch.bfloat16 else dtype
    shapes = case["shapes"]
    xs = []
    for k in range(case["count"]):
        t = torch.empty(shapes[k % len(shapes)], dtype=dtype).uniform_(-10.5, 10.5)
        for place, value in enumerate([2.5, -3.5, 4.0]):
            if place < t.numel():
                t.view(-1)[place] = value
        xs.append(t)
    return [xs, torch.tensor([case["mode"]], dtype=wide)]
