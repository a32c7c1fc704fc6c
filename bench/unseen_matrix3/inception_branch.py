"""Three branches of convolutions of other kernels beside a pool, joined along channels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 24
SIZE = 26


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.one = nn.Conv2d(channels, 16, 1)
        self.three = nn.Conv2d(channels, 20, 3, padding=1)
        self.wide = nn.Conv2d(channels, 8, (1, 7), padding=(0, 3))
        self.after = nn.Conv2d(channels, 12, 1)

    def forward(self, x):
        a = F.relu(self.one(x))
        b = F.relu(self.three(x))
        c = F.relu(self.wide(x))
        d = self.after(F.max_pool2d(x, 3, stride=1, padding=1))
        return torch.cat([a, b, c, d], dim=1)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS]
