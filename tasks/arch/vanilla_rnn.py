"""One step of a recurrent network, from a state that the call brings.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 256
IN_FEATURES = 16384
HIDDEN = 16384
OUT_FEATURES = 8192


class Model(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.hidden = torch.randn(BATCH, hidden)
        self.i2h = nn.Linear(in_features + hidden, hidden)
        self.h2o = nn.Linear(hidden, out_features)

    def forward(self, x, state):
        self.hidden.copy_(state)
        self.hidden = torch.tanh(self.i2h(torch.cat([x, self.hidden], dim=1)))
        return self.h2o(self.hidden)


def get_inputs():
    return [torch.rand(BATCH, IN_FEATURES), torch.rand(BATCH, HIDDEN)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, OUT_FEATURES]
