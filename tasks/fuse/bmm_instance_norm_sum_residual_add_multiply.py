"""Linear layer, instance norm of each row, then (x + y) * y.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.InstanceNorm2d(out_features)

    def forward(self, x, y):
        x = self.norm(self.linear(x)[:, None, None]).squeeze(1).squeeze(1)
        return (x + y) * y


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES), torch.rand(BATCH, OUT_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
