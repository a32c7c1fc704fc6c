"""First-order recurrence along time: y[t] = a y[t-1] + (1 - a) x[t], for short sequences, by powers.

category: cumulative
"""
import torch
import torch.nn as nn

BATCH = 256
TIME = 128
CHANNELS = 64


class Model(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a = a

    def forward(self, x):
        t = torch.arange(x.shape[1]).float()
        w = torch.pow(self.a, -t)[None, :, None]
        return torch.cumsum(x * w, dim=1) * torch.pow(self.a, t)[None, :, None] * (1 - self.a)


def get_inputs():
    return [torch.randn(BATCH, TIME, CHANNELS)]


def get_init_inputs():
    return [0.95]
