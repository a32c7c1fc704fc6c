"""Six LSTM layers; the last hidden state of each.

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
OUT_FEATURES = 10


class Model(nn.Module):
    def __init__(self, in_features, hidden, layers, out_features):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, out_features)  # no result rests on it

    def forward(self, x, h0, c0):
        return self.lstm(x, (h0, c0))[1][0]


def get_inputs():
    return [torch.rand(BATCH, STEPS, IN_FEATURES), torch.rand(LAYERS, BATCH, HIDDEN),
            torch.rand(LAYERS, BATCH, HIDDEN)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, LAYERS, OUT_FEATURES]
