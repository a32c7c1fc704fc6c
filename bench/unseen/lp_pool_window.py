"""Power-mean pooling over windows of 7 in one dimension.

category: pooling
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 16
CHANNELS = 64
TIME = 3700


class Model(nn.Module):
    def forward(self, x):
        p = F.avg_pool1d(x.abs().pow(3), 7, stride=3)
        return (p * 7).pow(1.0 / 3.0)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, TIME)]


def get_init_inputs():
    return []
