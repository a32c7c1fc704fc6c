"""Self-attention between the pixels of an image, with shortcut and layer norm.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 2
WIDTH = 128
HEADS = 4
SIDE = 128


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(width, heads)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        pixels = x.flatten(2).permute(2, 0, 1)
        y = self.norm(self.attn(pixels, pixels, pixels)[0] + pixels)
        return y.permute(1, 2, 0).reshape(x.shape)


def get_inputs():
    return [torch.rand(BATCH, WIDTH, SIDE, SIDE)]


def get_init_inputs():
    return [WIDTH, HEADS]
