"""Copies n elements of x, incx apart, to places incy apart.

in   x    c64
out  y    c64
attr n    int 0
attr incx int 1
attr incy int 1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, n, incx, incy):
        y = torch.zeros((n - 1) * incy + 1, dtype=x.dtype)
        y[::incy] = x.flatten()[: (n - 1) * incx + 1 : incx]
        return y


def get_inputs(case):
    return [torch.complex(torch.rand(case["shape"]), torch.rand(case["shape"])), case["n"], 1, 1]
