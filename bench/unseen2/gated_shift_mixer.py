"""Channels shifted by one step forward or back in time by quarters, gated and added.

category: mixer
"""
import torch
import torch.nn as nn

BATCH = 4
TIME = 512
WIDTH = 512


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Parameter(torch.rand(width))
        self.quarter = width // 4

    def forward(self, x):
        q = self.quarter
        zero = torch.zeros_like(x[:, :1])
        back = torch.cat((zero, x[:, :-1]), dim=1)
        ahead = torch.cat((x[:, 1:], zero), dim=1)
        y = torch.cat((back[..., :q], ahead[..., q:2 * q], x[..., 2 * q:]), dim=-1)
        return x + torch.sigmoid(self.gate) * (y - x)


def get_inputs():
    return [
        torch.randn(BATCH, TIME, WIDTH),
    ]


def get_init_inputs():
    return [WIDTH]
