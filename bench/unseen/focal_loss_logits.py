"""Focal loss over logits of independent labels.

category: loss
"""
import torch
import torch.nn as nn

BATCH = 2048
CLASSES = 1000


class Model(nn.Module):
    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, logits, label):
        p = torch.sigmoid(logits)
        ce = torch.clamp(logits, min=0) - logits * label + torch.log1p(torch.exp(-torch.abs(logits)))
        pt = p * label + (1 - p) * (1 - label)
        alpha = self.alpha * label + (1 - self.alpha) * (1 - label)
        return (alpha * (1 - pt).pow(2) * ce).mean()


def get_inputs():
    return [
        torch.randn(BATCH, CLASSES),
        torch.rand(BATCH, CLASSES).round(),
    ]


def get_init_inputs():
    return [0.25]
