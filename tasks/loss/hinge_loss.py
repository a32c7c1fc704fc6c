"""Mean of max(1 - prediction * target, 0); the targets run along the columns.

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
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.randint(0, 2, (COLS,)).float() * 2 - 1]


def get_init_inputs():
    return []
