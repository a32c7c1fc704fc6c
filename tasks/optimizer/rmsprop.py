"""One step of RMSprop.

category: optimizer
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 2048


class Model(nn.Module):
    def __init__(self, lr=1e-3, alpha=0.99, eps=1e-8):
        super().__init__()
        self.lr = lr
        self.alpha = alpha
        self.eps = eps

    def forward(self, param, grad, v):
        v = self.alpha * v + (1 - self.alpha) * grad.pow(2)
        return param - self.lr * grad / (v.sqrt() + self.eps)


def get_inputs():
    param = torch.rand(ROWS, COLS)
    grad = torch.rand_like(param)
    v = torch.zeros_like(param)
    return [param, grad, v]


def get_init_inputs():
    return []
