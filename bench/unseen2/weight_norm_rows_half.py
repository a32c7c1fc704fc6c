"""Weight normalisation by output row in half precision, with a gain.

category: norm
"""
import torch
import torch.nn as nn

OUT = 2000
IN = 2050


class Model(nn.Module):
    def forward(self, v, g):
        f = v.float()
        n = f.pow(2).sum(dim=1, keepdim=True).sqrt()
        return (f / (n + 1e-6) * g.float()).half()


def get_inputs():
    return [
        torch.randn(OUT, IN, dtype=torch.float16),
        torch.rand(OUT, 1, dtype=torch.float16),
    ]


def get_init_inputs():
    return []
