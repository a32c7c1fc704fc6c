"""Softmax along time followed by a cumulative sum, as a soft stopping weight.

category: cumulative
"""
import torch
import torch.nn as nn

ROWS = 2000
TIME = 1000


class Model(nn.Module):
    def forward(self, x):
        w = torch.softmax(x, dim=-1)
        return 1.0 - torch.cumsum(w, dim=-1)


def get_inputs():
    return [
        torch.randn(ROWS, TIME),
    ]


def get_init_inputs():
    return []
