"""Rotary positions in two directions: the first half of a head turns with the row, the second with the column.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 4
HEADS = 12
SIDE = 24
DIM = 64


class Model(nn.Module):
    def forward(self, x, row, col):
        b, h, s, _, d = x.shape
        a, c = x[..., :d // 2], x[..., d // 2:]
        ra, ca = torch.cos(row)[:, None, :], torch.sin(row)[:, None, :]
        rc, cc = torch.cos(col)[None, :, :], torch.sin(col)[None, :, :]
        a1, a2 = a.chunk(2, -1)
        c1, c2 = c.chunk(2, -1)
        left = torch.cat([a1 * ra - a2 * ca, a1 * ca + a2 * ra], -1)
        right = torch.cat([c1 * rc - c2 * cc, c1 * cc + c2 * rc], -1)
        return torch.cat([left, right], -1)


def get_inputs():
    return [
        torch.randn(BATCH, HEADS, SIDE, SIDE, DIM),
        torch.rand(SIDE, 16),
        torch.rand(SIDE, 16),
    ]


def get_init_inputs():
    return []
