"""Running largest value less the running mean along the time axis, channels last.

category: cumulative
"""
import torch
import torch.nn as nn

BATCH = 8
STEPS = 500
CHANNELS = 512


class Model(nn.Module):
    def forward(self, x):
        top = torch.cummax(x, dim=1)[0]
        count = torch.arange(1, x.shape[1] + 1).view(1, -1, 1).float()
        return top - torch.cumsum(x, dim=1) / count


def get_inputs():
    return [
        torch.randn(BATCH, STEPS, CHANNELS),
    ]


def get_init_inputs():
    return []
