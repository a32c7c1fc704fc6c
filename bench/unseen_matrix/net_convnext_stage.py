"""A patch stem and two ConvNeXt blocks: depthwise 7 x 7, norm over channels, two pointwise layers."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
SIDE = 128
WIDTH = 96


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depth = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.ones(width) * 0.1)

    def forward(self, x):
        y = self.depth(x).permute(0, 2, 3, 1)
        y = self.gamma * self.down(F.gelu(self.up(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.blocks = nn.Sequential(Block(width), Block(width))

    def forward(self, x):
        return self.blocks(self.stem(x))


def get_inputs():
    return [torch.randn(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [WIDTH]
