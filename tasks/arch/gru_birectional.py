"""Six layers of gated recurrent units in both directions; the output of every step.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
STEPS = 512
IN_FEATURES = 128
HIDDEN = 256
LAYERS = 6


class Model(nn.Module):
    def __init__(self, in_features, hidden, layers):
        super().__init__()
        self.gru = nn.GRU(in_features, hidden, layers, bidirectional=True)

    def forward(self, x, h0):
        return self.gru(x, h0)[0]


def get_inputs():
    return [torch.rand(STEPS, BATCH, IN_FEATURES), torch.rand(LAYERS * 2, BATCH, HIDDEN)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, LAYERS]
