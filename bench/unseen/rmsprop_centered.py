"""Centred RMSprop with momentum.

category: optim
"""
import torch
import torch.nn as nn

N = 520000


class Model(nn.Module):
    def forward(self, p, g, sq, avg, buf):
        sq2 = 0.99 * sq + 0.01 * g * g
        avg2 = 0.99 * avg + 0.01 * g
        d = torch.sqrt(sq2 - avg2 * avg2 + 1e-4) + 1e-8
        buf2 = 0.9 * buf + g / d
        return p - 0.01 * buf2, sq2, avg2, buf2


def get_inputs():
    return [
        torch.randn(N),
        torch.randn(N),
        torch.rand(N) + 2.0,
        torch.randn(N) * 0.1,
        torch.randn(N),
    ]


def get_init_inputs():
    return []
