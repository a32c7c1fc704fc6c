"""Two hidden layers with ReLU and a linear output layer.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 128
IN_FEATURES = 16384
HIDDEN = [16384, 16384]
OUT_FEATURES = 8192


class Model(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        widths = [in_features] + list(hidden)
        stack = []
        for before, after in zip(widths, widths[1:]):
            stack += [nn.Linear(before, after), nn.ReLU()]
        self.network = nn.Sequential(*stack, nn.Linear(widths[-1], out_features))

    def forward(self, x):
        return self.network(x)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, OUT_FEATURES]
