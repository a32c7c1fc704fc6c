"""Quantile regression: Huber loss of all pairs of predicted and target quantiles.

category: loss
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1024
QUANTILES = 64


class Model(nn.Module):
    def forward(self, predicted, target):
        error = target.unsqueeze(1) - predicted.unsqueeze(2)
        huber = torch.where(error.abs() <= 1.0, 0.5 * error * error, error.abs() - 0.5)
        tau = (torch.arange(predicted.shape[1], device=predicted.device) + 0.5) / predicted.shape[1]
        weight = (tau[None, :, None] - (error < 0).float()).abs()
        return (weight * huber).mean(dim=2).sum(dim=1)


def get_inputs():
    return [torch.randn(BATCH, QUANTILES), torch.randn(BATCH, QUANTILES)]


def get_init_inputs():
    return []
