"""Mean over rows of 1 - cos(prediction, target).

category: loss
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 128
COLS = 4096


class Model(nn.Module):
    def forward(self, predictions, targets):
        return torch.mean(1 - F.cosine_similarity(predictions, targets, dim=1))


def get_inputs():
    return [torch.rand(ROWS, COLS), torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
