"""Mean square of the difference.

category: loss
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 32768
COLS = 32768


class Model(nn.Module):
    def forward(self, predictions, targets):
        return torch.mean((predictions - targets) ** 2)


def get_inputs():
    predictions = torch.rand(ROWS, COLS) * torch.rand(())
    return [predictions, torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
