"""Two layers of a dense block, each reading all before it, and a transition with a pool."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 16
SIZE = 22
GROWTH = 8


class Model(nn.Module):
    def __init__(self, channels, growth):
        super().__init__()
        self.b1 = nn.BatchNorm2d(channels)
        self.c1 = nn.Conv2d(channels, growth, 3, padding=1, bias=False)
        self.b2 = nn.BatchNorm2d(channels + growth)
        self.c2 = nn.Conv2d(channels + growth, growth, 3, padding=1, bias=False)
        self.out = nn.Conv2d(channels + 2 * growth, channels, 1)

    def forward(self, x):
        a = self.c1(F.relu(self.b1(x)))
        y = torch.cat([x, a], 1)
        b = self.c2(F.relu(self.b2(y)))
        y = torch.cat([y, b], 1)
        return F.avg_pool2d(self.out(y), 2)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS, GROWTH]
