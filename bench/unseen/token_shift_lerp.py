"""Each token mixed with the one before it, by channel (RWKV's time mix).

category: mixer
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
TOKENS = 512
WIDTH = 1024


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix_k = nn.Parameter(torch.rand(width))
        self.mix_r = nn.Parameter(torch.rand(width))

    def forward(self, x):
        prev = F.pad(x, (0, 0, 1, -1))
        k = x * self.mix_k + prev * (1 - self.mix_k)
        r = torch.sigmoid(x * self.mix_r + prev * (1 - self.mix_r))
        return k * r


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH]
