"""The squared differences, their mean, or their sum.

in   predict   f16 f32
in   label     f16 f32
out  y         f16 f32
attr reduction text mean
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, predict, label, reduction):
        y = (predict - label) * (predict - label)
        return y.sum() if reduction == "sum" else y.mean() if reduction == "mean" else y


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.rand(shape, dtype=dtype), torch.rand(shape, dtype=dtype), case["reduction"]]
