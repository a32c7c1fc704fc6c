"""Linear layer, times a number, hardtanh, GELU.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2048
IN_FEATURES = 8192
OUT_FEATURES = 8192
SCALE = 0.5
LOW = -2
HIGH = 2


class Model(nn.Module):
    def __init__(self, in_features, out_features, scale, low, high):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale
        self.cut = nn.Hardtanh(low, high)

    def forward(self, x):
        return F.gelu(self.cut(self.linear(x) * self.scale))


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, SCALE, LOW, HIGH]
