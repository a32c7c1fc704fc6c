"""Causal depthwise convolution of width 4 along time, then SiLU (Mamba's short filter).

category: mixer
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
TOKENS = 512
WIDTH = 1024


class Model(nn.Module):
    def forward(self, x, w):
        y = x * w[3]
        for i in range(3):
            y = y + F.pad(x, (0, 0, 3 - i, 0))[:, :x.shape[1]] * w[i]
        return F.silu(y)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, WIDTH),
        torch.randn(4, WIDTH),
    ]


def get_init_inputs():
    return []
