"""1 / (1 + exp(-t)) for each element t, for every tensor of the list.

list x f16 f32 bf16
outs y f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return [torch.sigmoid(t) for t in x]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]]]
