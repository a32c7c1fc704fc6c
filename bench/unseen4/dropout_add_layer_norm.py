"""Dropout by a given mask, residual addition, and layer norm of the sum; the sum is handed on too."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 920
WIDTH = 1088


class Model(nn.Module):
    def __init__(self, width, keep):
        super().__init__()
        self.keep = keep
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x, residual, mask):
        total = residual + x * mask / self.keep
        return F.layer_norm(total, (x.shape[-1],), self.weight, self.bias, 1e-5), total


def get_inputs():
    return [torch.rand(TOKENS, WIDTH), torch.rand(TOKENS, WIDTH), (torch.rand(TOKENS, WIDTH) > 0.1).float()]


def get_init_inputs():
    return [WIDTH, 0.9]
