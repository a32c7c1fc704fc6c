"""Kullback-Leibler divergence of two row-wise distributions, per row.

category: loss
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 16384
COLS = 16384


class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.kl_div(torch.log(predictions), targets, reduction='batchmean')


def get_inputs():
    scores = torch.rand(ROWS, COLS) * torch.rand(())
    return [scores.softmax(dim=-1), torch.rand(ROWS, COLS).softmax(dim=-1)]


def get_init_inputs():
    return []
