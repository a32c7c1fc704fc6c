"""Exponential moving average of weights kept in float, copied to half.

category: optim
"""
import torch
import torch.nn as nn

N = 1500000


class Model(nn.Module):
    def forward(self, ema, w):
        e = ema + 0.001 * (w.float() - ema)
        return e, e.half()


def get_inputs():
    return [
        torch.randn(N),
        torch.randn(N, dtype=torch.float16),
    ]


def get_init_inputs():
    return []
