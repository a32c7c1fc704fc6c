"""Hinge of squared distances between rows, with a sign per pair, mean over all.

category: loss
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 2700
WIDTH = 770


class Model(nn.Module):
    def forward(self, a, b, same):
        d2 = (a - b).pow(2).sum(-1)
        d = (d2 + 1e-12).sqrt()
        push = F.relu(1.0 - d).pow(2)
        return (same * d2 + (1 - same) * push).mean()


def get_inputs():
    return [
        torch.randn(ROWS, WIDTH),
        torch.randn(ROWS, WIDTH),
        torch.randint(0, 2, (ROWS,)).float(),
    ]


def get_init_inputs():
    return []
