"""Linear layer, group norm, smallest of each row, plus a bias that adds two axes.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
GROUPS = 512


class Model(nn.Module):
    def __init__(self, in_features, out_features, groups, shape):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.GroupNorm(groups, out_features)
        self.bias = nn.Parameter(torch.randn(shape))

    def forward(self, x):
        x = self.norm(self.linear(x)).min(dim=1, keepdim=True)[0]
        return x + self.bias


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, GROUPS, (1, OUT_FEATURES, 1, 1)]
