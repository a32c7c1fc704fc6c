"""Linear layer, swish, plus a bias, group norm.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 32768
IN_FEATURES = 1024
OUT_FEATURES = 4096
GROUPS = 64


class Model(nn.Module):
    def __init__(self, in_features, out_features, groups, shape):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(shape))
        self.norm = nn.GroupNorm(groups, out_features)

    def forward(self, x):
        x = self.linear(x)
        return self.norm(torch.sigmoid(x) * x + self.bias)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, GROUPS, (OUT_FEATURES,)]
