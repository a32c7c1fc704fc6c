"""One step of Adagrad.

category: optimizer
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 1024
COLS = 4096


class Model(nn.Module):
    def __init__(self, lr=1e-2, eps=1e-10):
        super().__init__()
        self.lr = lr
        self.eps = eps

    def forward(self, param, grad, accum):
        accum = accum + grad.pow(2)
        return param - self.lr * grad / (accum.sqrt() + self.eps)


def get_inputs():
    param = torch.rand(ROWS, COLS)
    grad = torch.rand_like(param)
    accum = torch.zeros_like(param)
    return [param, grad, accum]


def get_init_inputs():
    return []
