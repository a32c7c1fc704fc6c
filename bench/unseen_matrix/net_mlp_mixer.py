"""Two MLP-Mixer layers with patches and a classifier."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
SIDE = 96
PATCH = 8
WIDTH = 128
CLASSES = 10


class Mixer(nn.Module):
    def __init__(self, patches, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.token1 = nn.Linear(patches, 64)
        self.token2 = nn.Linear(64, patches)
        self.norm2 = nn.LayerNorm(width)
        self.channel1 = nn.Linear(width, 4 * width)
        self.channel2 = nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x).transpose(1, 2)
        x = x + self.token2(F.gelu(self.token1(y))).transpose(1, 2)
        return x + self.channel2(F.gelu(self.channel1(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, patches, width, classes):
        super().__init__()
        self.embed = nn.Conv2d(3, width, PATCH, stride=PATCH)
        self.layers = nn.ModuleList([Mixer(patches, width) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(dim=1))


def get_inputs():
    return [torch.randn(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [(SIDE // PATCH) ** 2, WIDTH, CLASSES]
