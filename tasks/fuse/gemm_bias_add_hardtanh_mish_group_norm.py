"""Linear layer plus a bias, hardtanh, Mish, group norm.

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
GROUPS = 256


class Model(nn.Module):
    def __init__(self, in_features, out_features, shape, groups):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(shape))
        self.norm = nn.GroupNorm(groups, out_features)

    def forward(self, x):
        x = F.mish(F.hardtanh(self.linear(x) + self.bias))
        return self.norm(x)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, (OUT_FEATURES,), GROUPS]
