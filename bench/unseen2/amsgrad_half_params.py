"""AMSGrad step with float moments and half parameters.

category: optimiser
"""
import torch
import torch.nn as nn

N = 900000


class Model(nn.Module):
    def forward(self, p, g, m, v, top):
        gf = g.float()
        m = 0.9 * m + 0.1 * gf
        v = 0.999 * v + 0.001 * gf * gf
        top = torch.maximum(top, v)
        p = (p.float() - 0.001 * m / (top.sqrt() + 1e-8)).half()
        return p, m, v, top


def get_inputs():
    return [
        torch.randn(N, dtype=torch.float16),
        torch.randn(N, dtype=torch.float16),
        torch.randn(N),
        torch.rand(N),
        torch.rand(N),
    ]


def get_init_inputs():
    return []
