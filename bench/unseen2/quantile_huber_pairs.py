"""Quantile loss with a Huber knee over pairs of samples and targets.

category: loss
"""
import torch
import torch.nn as nn

BATCH = 900
TAUS = 64


class Model(nn.Module):
    def forward(self, pred, target, tau):
        u = target.unsqueeze(1) - pred.unsqueeze(2)
        h = torch.where(u.abs() <= 1.0, 0.5 * u * u, u.abs() - 0.5)
        w = (tau.unsqueeze(2) - (u < 0).float()).abs()
        return (w * h).mean(2).sum(1)


def get_inputs():
    return [
        torch.randn(BATCH, TAUS),
        torch.randn(BATCH, TAUS),
        torch.rand(BATCH, TAUS),
    ]


def get_init_inputs():
    return []
