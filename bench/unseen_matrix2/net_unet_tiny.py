"""A U-net of one level: convolutions, max pool, nearest upsampling, a join."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
C = 3
H = 32


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(c, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU())
        self.up = nn.Upsample(scale_factor=2)
        self.out = nn.Sequential(nn.Conv2d(48, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1))

    def forward(self, x):
        a = self.down(x)
        b = self.up(self.mid(a))
        return torch.sigmoid(self.out(torch.cat([a, b], dim=1)))


def get_inputs():
    return [torch.randn(BATCH, C, H, H)]


def get_init_inputs():
    return [C]
