"""Each layer reads the channels of all layers before it.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
COUNT = 6
CHANNELS = 32
GROWTH = 32
SIDE = 224


def dense_layer(channels, growth):
    return nn.Sequential(
        nn.BatchNorm2d(channels), nn.ReLU(),
        nn.Conv2d(channels, growth, 3, padding=1, bias=False), nn.Dropout(0.0))


class Model(nn.Module):
    def __init__(self, count, channels, growth):
        super().__init__()
        self.layers = nn.ModuleList(
            [dense_layer(channels + i * growth, growth) for i in range(count)])

    def forward(self, x):
        parts = [x]
        for layer in self.layers:
            parts.append(layer(x))
            x = torch.cat(parts, dim=1)
        return x


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [COUNT, CHANNELS, GROWTH]
