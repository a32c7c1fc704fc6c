"""Four branches of convolutions over one image, their channels side by side.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
SIDE = 224
WIDTHS = [480, 192, 96, 208, 16, 48, 64]


class Model(nn.Module):
    def __init__(self, channels, wide1, thin3, wide3, thin5, wide5, pooled):
        super().__init__()
        self.branch1x1 = nn.Conv2d(channels, wide1, 1)
        self.branch3x3 = nn.Sequential(
            nn.Conv2d(channels, thin3, 1), nn.Conv2d(thin3, wide3, 3, padding=1))
        self.branch5x5 = nn.Sequential(
            nn.Conv2d(channels, thin5, 1), nn.Conv2d(thin5, wide5, 5, padding=2))
        self.branch_pool = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1), nn.Conv2d(channels, pooled, 1))

    def forward(self, x):
        branches = (self.branch1x1, self.branch3x3, self.branch5x5, self.branch_pool)
        return torch.cat([branch(x) for branch in branches], dim=1)


def get_inputs():
    return [torch.rand(BATCH, WIDTHS[0], SIDE, SIDE)]


def get_init_inputs():
    return [*WIDTHS]
