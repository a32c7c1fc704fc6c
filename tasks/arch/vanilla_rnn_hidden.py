"""A recurrent network over 256 steps; the output of every step.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

STEPS = 256
BATCH = 8
IN_FEATURES = 1024
HIDDEN = 256
OUT_FEATURES = 128


class Model(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.i2h = nn.Linear(in_features + hidden, hidden)
        self.h2o = nn.Linear(hidden, out_features)

    def forward(self, x, state):
        rows = []
        for step in range(x.shape[0]):
            state = torch.tanh(self.i2h(torch.cat([x[step], state], dim=1)))
            rows.append(self.h2o(state))
        return torch.stack(rows)


def get_inputs():
    return [torch.rand(STEPS, BATCH, IN_FEATURES), torch.rand(BATCH, HIDDEN)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, OUT_FEATURES]
