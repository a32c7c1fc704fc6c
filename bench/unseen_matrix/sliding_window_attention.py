"""Causal attention that sees a window of positions."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
HEADS = 8
STEPS = 640
WIDTH = 64
WINDOW = 128


class Model(nn.Module):
    def __init__(self, steps, window):
        super().__init__()
        i = torch.arange(steps)
        away = i[:, None] - i[None, :]
        self.register_buffer("hidden", (away < 0) | (away >= window))

    def forward(self, q, k, v):
        s = torch.matmul(q, k.transpose(2, 3)) * (1.0 / math.sqrt(q.size(3)))
        s = s.masked_fill(self.hidden, float("-inf"))
        return torch.matmul(F.softmax(s, dim=-1), v)


def get_inputs():
    return [torch.randn(BATCH, HEADS, STEPS, WIDTH) for _ in range(3)]


def get_init_inputs():
    return [STEPS, WINDOW]
