"""One step of gradient descent with momentum.

category: optimizer
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 1024
COLS = 4096


class Model(nn.Module):
    def __init__(self, momentum=0.9, lr=0.01):
        super().__init__()
        self.momentum = momentum
        self.lr = lr

    def forward(self, param, grad, velocity):
        velocity = self.momentum * velocity + grad
        return param - self.lr * velocity


def get_inputs():
    param = torch.rand(ROWS, COLS)
    grad = torch.rand_like(param)
    velocity = torch.zeros_like(param)
    return [param, grad, velocity]


def get_init_inputs():
    return []
