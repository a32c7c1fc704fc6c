"""A LAMB step of one matrix: an Adam direction with decay, scaled by the ratio of two norms.

category: optimiser
"""
import torch
import torch.nn as nn

ROWS = 700
COLS = 860


class Model(nn.Module):
    def __init__(self, lr, beta1, beta2, decay):
        super().__init__()
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.decay = decay

    def forward(self, p, g, m, v):
        m = self.beta1 * m + (1 - self.beta1) * g
        v = self.beta2 * v + (1 - self.beta2) * g.square()
        step = m / (v.sqrt() + 1e-6) + self.decay * p
        trust = p.norm().clamp(max=10.0) / step.norm().clamp(min=1e-6)
        return p - self.lr * trust * step, m, v


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS), torch.randn(ROWS, COLS), torch.rand(ROWS, COLS)]


def get_init_inputs():
    return [1e-3, 0.9, 0.999, 0.01]
