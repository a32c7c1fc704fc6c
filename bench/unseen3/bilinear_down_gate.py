"""Bilinear resize to an odd size times a gate of that size.

category: resize
"""
import torch
import torch.nn as nn

BATCH = 4
CHANNELS = 40
SIDE = 140


class Model(nn.Module):
    def forward(self, x, gate):
        y = nn.functional.interpolate(x, size=(gate.shape[2], gate.shape[3]), mode="bilinear", align_corners=True)
        return y * torch.sigmoid(gate)


def get_inputs():
    return [
        torch.randn(BATCH, CHANNELS, SIDE, SIDE),
        torch.randn(BATCH, CHANNELS, 75, 93),
    ]


def get_init_inputs():
    return []
