"""Four neighbours of a picture of tokens joined along channels, then layer norm.

category: shuffle
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
HEIGHT = 56
WIDTH = 58
CHANNELS = 152


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4 * channels))
        self.bias = nn.Parameter(torch.randn(4 * channels))

    def forward(self, x):
        a = x[:, 0::2, 0::2, :]
        b = x[:, 1::2, 0::2, :]
        c = x[:, 0::2, 1::2, :]
        d = x[:, 1::2, 1::2, :]
        y = torch.cat((a, b, c, d), dim=-1)
        return F.layer_norm(y, (y.shape[-1],), self.weight, self.bias, 1e-5)


def get_inputs():
    return [torch.randn(BATCH, HEIGHT, WIDTH, CHANNELS)]


def get_init_inputs():
    return [CHANNELS]
