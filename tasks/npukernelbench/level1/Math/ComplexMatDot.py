"""The product of two complex m x n matrices, element by element.

in   matx   c64
in   maty   c64
out  result c64
attr m      int 1
attr n      int 1
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, matx, maty, m, n):
        return matx * maty


def get_inputs(case):
    m, n = case["m"], case["n"]
    return [torch.complex(torch.rand(m, n), torch.rand(m, n)),
            torch.complex(torch.rand(m, n), torch.rand(m, n)), m, n]
