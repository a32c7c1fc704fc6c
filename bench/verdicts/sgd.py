"""A step of gradient descent with momentum: parameters and velocities."""
import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT = 1 << 23


class Model(nn.Module):
    def forward(self, p, v, g):
        v = 0.9 * v + g
        return p - 0.01 * v, v


def get_inputs():
    return [torch.randn(COUNT), torch.randn(COUNT), torch.randn(COUNT)]


def get_init_inputs():
    return []
