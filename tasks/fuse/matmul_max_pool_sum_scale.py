"""Linear layer, max over windows of a row, sum of each row, times a number.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 128
IN_FEATURES = 32768
OUT_FEATURES = 32768
KERNEL = 2
SCALE = 0.5


class Model(nn.Module):
    def __init__(self, in_features, out_features, kernel_size, scale):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.pool = nn.MaxPool1d(kernel_size)
        self.scale = scale

    def forward(self, x):
        x = self.pool(self.linear(x).unsqueeze(1)).squeeze(1)
        return x.sum(dim=1) * self.scale


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES, KERNEL, SCALE]
