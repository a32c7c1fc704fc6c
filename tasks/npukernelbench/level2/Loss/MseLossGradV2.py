"""The gradient of the squared difference by predict, in float32: 2 (predict - label) dout, over
the number of elements for the mean.

in   predict   f16 f32 bf16
in   label     f16 f32 bf16
in   dout      f16 f32 bf16
out  y         f16 f32 bf16
attr reduction text mean
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, predict, label, dout, reduction):
        factor = 2.0 / predict.numel() if reduction == "mean" else 2.0
        return ((predict.float() - label.float()) * factor * dout.float()).to(predict.dtype)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.rand(shape, dtype=dtype) * 200 - 100 for _ in range(3)] + [case["reduction"]]
