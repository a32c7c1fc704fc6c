"""Linear layer minus a number, times a number, ReLU.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
SHIFT = 2.0
SCALE = 1.5


class Model(nn.Module):
    def __init__(self, in_features, out_features, shift, scale):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.shift = shift
        self.scale = scale

    def forward(self, x):
        return torch.relu((self.linear(x) - self.shift) * self.scale)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, SHIFT, SCALE]
