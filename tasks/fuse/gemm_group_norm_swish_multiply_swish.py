"""Linear layer, group norm, swish, a scale for each column, swish.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
GROUPS = 256


class Model(nn.Module):
    def __init__(self, in_features, out_features, groups, shape):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        self.scale = nn.Parameter(torch.randn(shape))

    def forward(self, x):
        x = self.norm(self.linear(x))
        x = x * torch.sigmoid(x) * self.scale
        return x * torch.sigmoid(x)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, GROUPS, (OUT_FEATURES,)]
