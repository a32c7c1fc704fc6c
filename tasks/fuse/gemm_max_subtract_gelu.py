"""Linear layer, largest of each row, minus its own mean, GELU: always 0.

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
DIM = 1


class Model(nn.Module):
    def __init__(self, in_features, out_features, dim):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.dim = dim

    def forward(self, x):
        x = self.linear(x).max(dim=self.dim, keepdim=True).values
        return F.gelu(x - x.mean(dim=1, keepdim=True))


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, DIM]
