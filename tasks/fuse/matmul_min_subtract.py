"""Linear layer, not above a learnt number, minus that number.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_FEATURES = 16384
OUT_FEATURES = 16384
CEILING = 2.0


class Model(nn.Module):
    def __init__(self, in_features, out_features, ceiling):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.ceiling = nn.Parameter(torch.tensor(ceiling))

    def forward(self, x):
        return torch.min(self.linear(x), self.ceiling) - self.ceiling


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, CEILING]
