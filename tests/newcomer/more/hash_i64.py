import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Multiplicative hash of token pairs into buckets: 64-bit products."""

    def __init__(self, buckets):
        super().__init__()
        self.buckets = buckets

    def forward(self, a, b):
        h = a * 2654435761 + b * 40503
        h = h ^ (h >> 16)
        return h % self.buckets


def get_inputs():
    return [torch.randint(0, 50000, (64, 128)), torch.randint(0, 50000, (64, 128))]


def get_init_inputs():
    return [10007]
