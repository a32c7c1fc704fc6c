"""One step of Lion: sign of an interpolated momentum, decoupled decay.

category: optim
"""
import torch
import torch.nn as nn

N = 800000


class Model(nn.Module):
    def __init__(self, lr=1e-4, b1=0.9, b2=0.99, wd=0.1):
        super().__init__()
        self.lr = lr
        self.b1 = b1
        self.b2 = b2
        self.wd = wd

    def forward(self, p, g, m):
        u = self.b1 * m + (1 - self.b1) * g
        p2 = p * (1 - self.lr * self.wd) - self.lr * torch.sign(u)
        return p2, self.b2 * m + (1 - self.b2) * g


def get_inputs():
    return [
        torch.randn(N),
        torch.randn(N),
        torch.randn(N),
    ]


def get_init_inputs():
    return []
