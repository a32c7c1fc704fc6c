"""Self attention in which a position sees itself and a window before it.

category: attention
suite: multikernelbench
level: 1
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
LENGTH = 2048
WIDTH = 1024
HEADS = 16
WINDOW = 256


class Model(nn.Module):
    def __init__(self, d_model, num_heads, window):
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.num_heads = num_heads
        self.window = window

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.num_heads
        q, k, v = (layer(x).view(batch, length, self.num_heads, size)
                   for layer in (self.query, self.key, self.value))
        rows = torch.zeros_like(q)
        for i in range(length):
            seen = slice(max(0, i - self.window), i + 1)
            scores = torch.einsum('bqhd,bkhd->bhqk', q[:, i:i + 1], k[:, seen]) / math.sqrt(size)
            weights = F.softmax(scores, dim=-1)
            rows[:, i:i + 1] = torch.einsum('bhqk,bkhd->bqhd', weights, v[:, seen])
        return self.out(rows.reshape(batch, length, width))


def get_inputs():
    return [torch.rand(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS, WINDOW]
