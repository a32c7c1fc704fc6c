"""Linear layer, group norm, hardtanh.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
GROUPS = 16
LOW = -2.0
HIGH = 2.0


class Model(nn.Module):
    def __init__(self, in_features, out_features, groups, low, high):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        self.cut = nn.Hardtanh(low, high)

    def forward(self, x):
        return self.cut(self.norm(self.linear(x)))


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, GROUPS, LOW, HIGH]
