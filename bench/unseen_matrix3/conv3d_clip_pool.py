"""A convolution over video clips, a clamp, the mean over time."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 6
FRAMES = 9
SIZE = 20


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv3d(channels, 18, (3, 3, 3), stride=(1, 2, 2), padding=1)

    def forward(self, x):
        y = torch.clamp(self.conv(x), -0.5, 0.75)
        return y.mean(dim=2)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, FRAMES, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS]
