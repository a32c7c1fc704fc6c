"""A transposed convolution added to a convolution whose pixels are shuffled."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 32
SIDE = 48


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.up = nn.ConvTranspose2d(channels, channels, 4, stride=2, padding=1)
        self.fine = nn.Conv2d(channels, 4 * channels, 3, padding=1)

    def forward(self, x):
        return F.relu(self.up(x) + F.pixel_shuffle(self.fine(x), 2))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS]
