"""Cyclic shift, partition into windows of 7 by 7 and layer norm of each token."""
import torch
import torch.nn as nn

BATCH = 4
HEIGHT = 56
WIDTH = 56
CHANNELS = 160
WINDOW = 7


class Model(nn.Module):
    def __init__(self, channels, window):
        super().__init__()
        self.window = window
        self.norm = nn.LayerNorm(channels)

    def forward(self, x):
        n = self.window
        b, h, w, c = x.shape
        x = torch.roll(x, shifts=(-(n // 2), -(n // 2)), dims=(1, 2))
        x = x.view(b, h // n, n, w // n, n, c).permute(0, 1, 3, 2, 4, 5)
        return self.norm(x.reshape(-1, n * n, c))


def get_inputs():
    return [torch.randn(BATCH, HEIGHT, WIDTH, CHANNELS)]


def get_init_inputs():
    return [CHANNELS, WINDOW]
