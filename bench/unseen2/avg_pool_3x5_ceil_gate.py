"""Average over windows of 3 by 5 with stride 2, subtracted maximum of the same windows.

category: pooling
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 48
HEIGHT = 90
WIDTH = 90


class Model(nn.Module):
    def forward(self, x):
        a = F.avg_pool2d(x, (3, 5), stride=(2, 2), padding=(1, 2))
        m = F.max_pool2d(x, (3, 5), stride=(2, 2), padding=(1, 2))
        return torch.sigmoid(a - m)


def get_inputs():
    return [
        torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH),
    ]


def get_init_inputs():
    return []
