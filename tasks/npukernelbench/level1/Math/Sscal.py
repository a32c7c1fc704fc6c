"""Multiplies x by alpha, in place.

in   x     f32
attr alpha float 1.0
attr n     int 0
attr incx  int 1
mut  x     f32
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, alpha, n, incx):
        return x * alpha


def get_inputs(case):
    return [torch.ones(case["shape"]), float(case["alpha"]), case["n"], 1]
