"""EvoNorm-S0: a swish over the standard deviation of groups of channels.

category: norm
"""
import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 48
HEIGHT = 71
WIDTH = 77
GROUPS = 8


class Model(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.groups = groups
        self.v = nn.Parameter(torch.randn(1, channels, 1, 1))
        self.gamma = nn.Parameter(torch.randn(1, channels, 1, 1))
        self.beta = nn.Parameter(torch.randn(1, channels, 1, 1))

    def forward(self, x):
        n, c, h, w = x.shape
        g = x.reshape(n, self.groups, c // self.groups, h, w)
        var = g.var(dim=(2, 3, 4), unbiased=False, keepdim=True)
        std = torch.sqrt(var + 1e-5).expand_as(g).reshape(n, c, h, w)
        return x * torch.sigmoid(self.v * x) / std * self.gamma + self.beta


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, GROUPS]
