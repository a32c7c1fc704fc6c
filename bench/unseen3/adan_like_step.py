"""An optimiser step with the difference of gradients and decoupled decay.

category: optimiser
"""
import torch
import torch.nn as nn

COUNT = 460000


class Model(nn.Module):
    def forward(self, p, g, last, m, v, n):
        d = g - last
        m = 0.98 * m + 0.02 * g
        v = 0.92 * v + 0.08 * d
        u = g + 0.92 * d
        n = 0.99 * n + 0.01 * u * u
        step = 0.001 / (n.sqrt() + 1e-8)
        p = (p - step * (m + 0.92 * v)) / 1.00002
        return p, m, v, n


def get_inputs():
    return [
        torch.randn(COUNT),
        torch.randn(COUNT),
        torch.randn(COUNT),
        torch.randn(COUNT),
        torch.randn(COUNT),
        torch.rand(COUNT),
    ]


def get_init_inputs():
    return []
