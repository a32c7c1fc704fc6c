"""Linear layer times a number, doubled, clamp, logsumexp of each row, x * mish(x).

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
SCALE = 2.0
LOW = -10.0
HIGH = 10.0


class Model(nn.Module):
    def __init__(self, in_features, out_features, scale, low, high):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale
        self.low = low
        self.high = high

    def forward(self, x):
        x = self.linear(x) * self.scale
        x = torch.clamp(x + x, self.low, self.high)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * F.mish(x)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, SCALE, LOW, HIGH]
