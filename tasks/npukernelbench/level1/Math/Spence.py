"""Spence's function: the integral from 1 to x of log(t) / (1 - t).

in   x f16 f32
out  y f16 f32
"""
import torch
import torch.nn as nn
from scipy.special import spence


class Model(nn.Module):
    def forward(self, x):
        return torch.as_tensor(spence(x)).to(x.dtype)


def get_inputs(case):
    return [torch.rand(case["shape"], dtype=getattr(torch, case["dtype"])) * 10]
