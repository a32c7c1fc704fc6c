"""A gated, dilated 1-D convolution with shortcut and skip (WaveNet)."""
import torch
import torch.nn as nn

BATCH = 4
CHANNELS = 64
LENGTH = 4000
DILATION = 4


class Model(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.filter = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        z = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        y = self.mix(z)
        return x + y, y


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS, DILATION]
