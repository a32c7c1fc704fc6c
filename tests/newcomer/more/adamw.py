# An optimizer step with decoupled decay: three results.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, p, g, m, v):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        p = p * 0.99 - 1e-3 * m / (v.sqrt() + 1e-8)
        return p, m, v


def get_inputs():
    return [torch.randn(50, 60), torch.randn(50, 60), torch.randn(50, 60), torch.rand(50, 60)]


def get_init_inputs():
    return []
