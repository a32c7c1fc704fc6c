"""Six LSTM layers from a drawn state, and a linear layer on the last step.

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
        self.shape = (layers, hidden)
        self.lstm = nn.LSTM(in_features, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, out_features)

    def forward(self, x, h0=None, c0=None):
        layers, hidden = self.shape
        h0 = torch.randn(layers, x.size(0), hidden) if h0 is None else h0
        c0 = torch.randn(layers, x.size(0), hidden) if c0 is None else c0
        y, _ = self.lstm(x, (h0, c0))
        return self.fc(y[:, -1])


def get_inputs():
    return [torch.rand(BATCH, STEPS, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, LAYERS, OUT_FEATURES]
