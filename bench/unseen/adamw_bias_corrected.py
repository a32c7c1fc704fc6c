"""AdamW with bias correction by a step count that is a tensor.

category: optim
"""
import torch
import torch.nn as nn

N = 600000


class Model(nn.Module):
    def forward(self, p, g, m, v, step):
        m2 = 0.9 * m + 0.1 * g
        v2 = 0.999 * v + 0.001 * g * g
        mh = m2 / (1 - torch.pow(0.9, step))
        vh = v2 / (1 - torch.pow(0.999, step))
        return p - 1e-3 * (mh / (torch.sqrt(vh) + 1e-8) + 0.01 * p), m2, v2


def get_inputs():
    return [
        torch.randn(N),
        torch.randn(N),
        torch.randn(N),
        torch.rand(N),
        torch.full((1,), 7.0),
    ]


def get_init_inputs():
    return []
