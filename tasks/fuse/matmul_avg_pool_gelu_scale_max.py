"""Linear layer, mean over windows of a row, GELU, times a number, largest of each row.

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
POOL = 16
SCALE = 2.0


class Model(nn.Module):
    def __init__(self, in_features, out_features, pool_size, scale):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.pool = nn.AvgPool1d(pool_size)
        self.scale = scale

    def forward(self, x):
        x = self.pool(self.linear(x).unsqueeze(1)).squeeze(1)
        return (F.gelu(x) * self.scale).max(dim=1).values


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, POOL, SCALE]
