"""Means of strips along rows and along columns as a gate of a picture.

category: pool
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 48
HEIGHT = 103
WIDTH = 101


class Model(nn.Module):
    def forward(self, x):
        tall = F.avg_pool2d(x, (7, 1), stride=1, padding=(3, 0))
        wide = F.avg_pool2d(x, (1, 7), stride=1, padding=(0, 3))
        return x * torch.sigmoid(tall + wide)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
