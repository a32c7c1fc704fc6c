"""An AdaBelief step: gradient clipped by its own norm, variance around the moment, decoupled decay.

category: optimiser
"""
import torch
import torch.nn as nn

SIZE = 600000


class Model(nn.Module):
    def __init__(self, lr, beta1, beta2, decay, most):
        super().__init__()
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.decay = decay
        self.most = most

    def forward(self, p, g, m, s):
        norm = torch.sqrt((g * g).sum())
        g = g * torch.clamp(self.most / (norm + 1e-6), max=1.0)
        m = self.beta1 * m + (1 - self.beta1) * g
        away = g - m
        s = self.beta2 * s + (1 - self.beta2) * away * away + 1e-16
        p = p * (1 - self.lr * self.decay) - self.lr * m / (torch.sqrt(s) + 1e-8)
        return p, m, s


def get_inputs():
    return [torch.randn(SIZE), torch.randn(SIZE), torch.randn(SIZE), torch.rand(SIZE)]


def get_init_inputs():
    return [1e-3, 0.9, 0.999, 0.01, 1.0]
