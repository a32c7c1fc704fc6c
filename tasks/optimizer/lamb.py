"""One step of LAMB: the update scaled by the ratio of two norms.

category: optimizer
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 512
COLS = 4096


class Model(nn.Module):
    def __init__(self, lr=1e-3, eps=1e-6):
        super().__init__()
        self.lr = lr
        self.eps = eps

    def forward(self, param, m, v):
        update = m / (v.sqrt() + self.eps)
        ratio = param.norm() / (update.norm() + self.eps)
        return param - self.lr * ratio * update


def get_inputs():
    param = torch.rand(ROWS, COLS)
    m = torch.rand_like(param)
    v = torch.rand_like(param).abs() + 1e-3
    return [param, m, v]


def get_init_inputs():
    return []
