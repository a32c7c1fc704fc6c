"""Patches by a convolution, all of them one token; six encoder layers over two tokens.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
CHANNELS = 3
SIDE = 32
PATCH = 4
WIDTH = 128
HEADS = 4
DEPTH = 6
CLASSES = 1000


class Model(nn.Module):
    def __init__(self, classes, width, heads):
        super().__init__()
        self.conv1 = nn.Conv2d(CHANNELS, width, PATCH, stride=PATCH)
        self.linear_proj = nn.Linear(width * (SIDE // PATCH) ** 2, width)
        self.transformer_layers = nn.ModuleList([
            nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
            for _ in range(DEPTH)])
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.fc_out = nn.Linear(width, classes)

    def forward(self, x):
        x = self.linear_proj(self.conv1(x).flatten(1))
        x = torch.cat([self.cls_token.expand(x.size(0), -1, -1), x[:, None]], dim=1)
        for layer in self.transformer_layers:
            x = layer(x)
        return self.fc_out(x[:, 0])


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CLASSES, WIDTH, HEADS]
