"""Tversky loss of a softmax over channels and soft masks, sums over pixels.

category: loss
"""
import torch
import torch.nn as nn

BATCH = 4
CLASSES = 19
HEIGHT = 160
WIDTH = 164


class Model(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, logits, target):
        p = torch.softmax(logits, dim=1)
        hit = (p * target).sum(dim=(0, 2, 3))
        false_hit = (p * (1 - target)).sum(dim=(0, 2, 3))
        missed = ((1 - p) * target).sum(dim=(0, 2, 3))
        score = (hit + 1.0) / (hit + self.alpha * false_hit + self.beta * missed + 1.0)
        return (1.0 - score).mean()


def get_inputs():
    return [
        torch.randn(BATCH, CLASSES, HEIGHT, WIDTH),
        torch.rand(BATCH, CLASSES, HEIGHT, WIDTH),
    ]


def get_init_inputs():
    return [0.3, 0.7]
