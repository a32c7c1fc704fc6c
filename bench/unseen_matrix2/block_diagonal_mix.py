"""A block-diagonal product, a permutation of channels, a second one (Monarch)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 300
BLOCKS = 8
SIZE = 24


class Model(nn.Module):
    def __init__(self, blocks, size):
        super().__init__()
        self.first = nn.Parameter(torch.randn(blocks, size, size) * 0.1)
        self.second = nn.Parameter(torch.randn(size, blocks, blocks) * 0.1)

    def forward(self, x):
        b = x.shape[0]
        g, s, _ = self.first.shape
        y = torch.einsum("bgs,gst->bgt", x.view(b, g, s), self.first)
        y = torch.einsum("btg,tgh->bth", y.transpose(1, 2), self.second)
        return y.reshape(b, -1)


def get_inputs():
    return [torch.randn(BATCH, BLOCKS * SIZE)]


def get_init_inputs():
    return [BLOCKS, SIZE]
