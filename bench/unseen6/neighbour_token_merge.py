"""Neighbouring tokens that point the same way are averaged.

category: shuffle
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
TOKENS = 1024
WIDTH = 256


class Model(nn.Module):
    def forward(self, x):
        a, b = x[:, 0::2], x[:, 1::2]
        alike = F.cosine_similarity(a, b, dim=-1, eps=1e-6)
        both = 0.5 * (a + b)
        return torch.where((alike > 0.1).unsqueeze(-1), both, a)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]


def get_init_inputs():
    return []
