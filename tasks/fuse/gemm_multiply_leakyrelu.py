"""Linear layer, times a number, leaky ReLU.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
SCALE = 2.0
SLOPE = 0.1


class Model(nn.Module):
    def __init__(self, in_features, out_features, scale, slope):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale
        self.slope = slope

    def forward(self, x):
        return F.leaky_relu(self.linear(x) * self.scale, self.slope)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, SCALE, SLOPE]
