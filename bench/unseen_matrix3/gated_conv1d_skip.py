"""A gated dilated convolution over time with a residual and a skip output."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 40
STEPS = 150


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.filter = nn.Conv1d(channels, channels, 3, dilation=2)
        self.gate = nn.Conv1d(channels, channels, 3, dilation=2)
        self.back = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, 2 * channels, 1)

    def forward(self, x):
        padded = F.pad(x, (4, 0))
        h = torch.tanh(self.filter(padded)) * torch.sigmoid(self.gate(padded))
        return x + self.back(h), F.relu(self.skip(h))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, STEPS)]


def get_init_inputs():
    return [CHANNELS]
