import torch
import torch.nn as nn

batch = 2
channels = 32
size = 16


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.ConvTranspose3d(channels, channels // 2, 3, stride=2, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, size, size, size)]


def get_init_inputs():
    return [channels]
