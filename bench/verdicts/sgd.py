"""A step of gradient descent with momentum: parameters and velocities."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, p, v, g):
        v = 0.9 * v + g
        return p - 0.01 * v, v


def get_inputs():
    return [torch.randn(1000003), torch.randn(1000003), torch.randn(1000003)]


def get_init_inputs():
    return []
