"""Means and maxima of a picture at three grid sizes, joined.

category: pooling
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 128
SIDE = 60


class Model(nn.Module):
    def forward(self, x):
        out = []
        for k in (60, 20, 12):
            out.append(F.avg_pool2d(x, k).flatten(1))
            out.append(F.max_pool2d(x, k).flatten(1))
        return torch.cat(out, dim=1)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return []
