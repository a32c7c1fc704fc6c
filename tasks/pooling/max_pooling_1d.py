"""Largest value over windows of a signal.

category: pooling
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 64
CHANNELS = 192
LENGTH = 2048
KERNEL = 8
STRIDE = 1
PADDING = 4


class Model(nn.Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel_size=kernel_size, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [KERNEL, STRIDE, PADDING]
