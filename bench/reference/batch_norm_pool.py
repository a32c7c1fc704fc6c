import torch
import torch.nn as nn

batch = 16
channels = 64
size = 96


class Model(nn.Module):
    """Batch statistics, relu, 2x2 maximum."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(torch.relu(self.norm(x)))


def get_inputs():
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs():
    return [channels]
