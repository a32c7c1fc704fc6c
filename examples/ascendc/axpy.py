"""axpy: a * x + y, two million elements. The kernels beside this file are written for it by hand."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return 2.0 * x + y


N = 2097152


def get_inputs():
    return [torch.randn(N), torch.randn(N)]


def get_init_inputs():
    return []
