"""Linear layer, batch norm, a learnt scale, softmax of each row.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
EPS = 1e-5
MOMENTUM = 0.1
SHAPE = (1,)


class Model(nn.Module):
    def __init__(self, in_features, out_features, eps, momentum, shape):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.BatchNorm1d(out_features, eps=eps, momentum=momentum)
        self.scale = nn.Parameter(torch.ones(shape))

    def forward(self, x):
        return torch.softmax(self.scale * self.norm(self.linear(x)), dim=1)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, EPS, MOMENTUM, SHAPE]
