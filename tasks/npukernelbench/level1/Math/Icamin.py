"""The place, counted from 1, of the first element with the least |real| + |imaginary| among n
elements incx apart.

in   x      c64
out  result i32
attr n      int 0
attr incx   int 1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, n, incx):
        part = x[: n * incx : incx]
        place = torch.argmin(part.real.abs() + part.imag.abs()) * incx
        return (place + 1).to(torch.int32)


def get_inputs(case):
    real, imag = torch.rand(case["shape"]) * 2 - 1, torch.rand(case["shape"]) * 2 - 1
    return [torch.complex(real, imag), case["n"], case["incx"]]
