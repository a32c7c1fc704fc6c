"""The place, counted from 1, of the first element with the largest magnitude among n elements incx
apart.

in   x      f32
out  result i32
attr n      int 0
attr incx   int 1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, n, incx):
        return (torch.argmax(x[: n * incx : incx].abs()) + 1).to(torch.int32)


def get_inputs(case):
    return [torch.rand(case["shape"]) * 200 - 100, case["n"], case["incx"]]
