"""Mean smooth L1 distance, quadratic below 1.

category: loss
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 32768
COLS = 32768


class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.smooth_l1_loss(predictions, targets)


def get_inputs():
    predictions = torch.rand(ROWS, COLS) * torch.rand(())
    return [predictions, torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
