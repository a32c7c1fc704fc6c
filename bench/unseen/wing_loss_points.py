"""Wing loss of landmark coordinates with a weight a point.

category: loss
"""
import math

import torch
import torch.nn as nn

BATCH = 10000
POINTS = 98


class Model(nn.Module):
    def __init__(self, w, eps):
        super().__init__()
        self.w = w
        self.eps = eps
        self.c = w - w * math.log(1 + w / eps)

    def forward(self, pred, gold, weight):
        d = torch.abs(pred - gold)
        small = self.w * torch.log(1 + d / self.eps)
        loss = torch.where(d < self.w, small, d - self.c)
        return (loss.sum(-1) * weight).mean(dim=1)


def get_inputs():
    return [
        torch.randn(BATCH, POINTS, 2) * 20,
        torch.randn(BATCH, POINTS, 2) * 20,
        torch.rand(BATCH, POINTS),
    ]


def get_init_inputs():
    return [10.0, 2.0]
