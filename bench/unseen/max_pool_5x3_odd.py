"""Max pooling with a window of 5 x 3, stride 3 x 2 and padding.

category: pooling
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 32
H = 131
W = 119


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, (5, 3), stride=(3, 2), padding=(2, 1))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, H, W)]


def get_init_inputs():
    return []
