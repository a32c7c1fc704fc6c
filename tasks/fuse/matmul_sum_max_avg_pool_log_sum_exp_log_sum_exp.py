"""Linear layer, sum of each row, then four steps over its one column that change nothing.

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

    def forward(self, x):
        x = self.linear(x).sum(dim=1, keepdim=True)
        x = x.max(dim=1, keepdim=True)[0].mean(dim=1, keepdim=True)
        return torch.logsumexp(torch.logsumexp(x, dim=1, keepdim=True), dim=1, keepdim=True)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
