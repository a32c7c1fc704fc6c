"""Taps that a linear layer predicts for each step and head, softmax over them, sums of shifted steps."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
STEPS = 96
WIDTH = 64
HEADS = 8
TAPS = 3


class Model(nn.Module):
    def __init__(self, width, heads, taps):
        super().__init__()
        self.heads = heads
        self.taps = taps
        self.predict = nn.Linear(width, heads * taps)

    def forward(self, x):
        b, t, c = x.shape
        w = torch.softmax(self.predict(x).view(b, t, self.heads, self.taps), dim=-1)
        p = F.pad(x, (0, 0, self.taps - 1, 0)).view(b, t + self.taps - 1, self.heads, c // self.heads)
        y = w[..., 0:1] * p[:, 0:t]
        for i in range(1, self.taps):
            y = y + w[..., i:i + 1] * p[:, i:i + t]
        return y.reshape(b, t, c)


def get_inputs():
    return [torch.randn(BATCH, STEPS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS, TAPS]
