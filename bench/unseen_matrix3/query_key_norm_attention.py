"""Attention whose queries and keys have unit length, with a learned temperature."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
HEADS = 3
LENGTH = 77
KEYS = 101
WIDTH = 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.heat = nn.Parameter(torch.tensor(8.0))

    def forward(self, q, k, v):
        q = F.normalize(q, dim=-1)
        k = F.normalize(k, dim=-1)
        return torch.softmax(torch.matmul(q, k.mT) * self.heat, dim=-1) @ v


def get_inputs():
    return [torch.randn(BATCH, HEADS, LENGTH, WIDTH), torch.randn(BATCH, HEADS, KEYS, WIDTH), torch.randn(BATCH, HEADS, KEYS, WIDTH)]


def get_init_inputs():
    return []
