"""A transposed convolution with a stride, a layer norm of its channels, gelu."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 3
CHANNELS = 28
SIZE = 17


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.up = nn.ConvTranspose2d(channels, 20, 4, stride=2, padding=1)
        self.norm = nn.LayerNorm(20)

    def forward(self, x):
        y = self.up(x).permute(0, 2, 3, 1)
        return F.gelu(self.norm(y))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS]
