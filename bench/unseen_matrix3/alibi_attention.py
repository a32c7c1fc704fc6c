"""Causal attention with a slope of the distance for each head."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
HEADS = 6
LENGTH = 130
WIDTH = 48


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, q, k, v):
        n = torch.arange(q.shape[2], device=q.device)
        slopes = torch.pow(2.0, -(torch.arange(q.shape[1], device=q.device) + 1.0)).view(1, -1, 1, 1)
        bias = (n[None, :] - n[:, None]).float() * slopes
        scores = q @ k.transpose(-1, -2) / 48 ** 0.5 + bias
        scores = scores.masked_fill(n[None, :] > n[:, None], float("-inf"))
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(BATCH, HEADS, LENGTH, WIDTH), torch.randn(BATCH, HEADS, LENGTH, WIDTH), torch.randn(BATCH, HEADS, LENGTH, WIDTH)]


def get_init_inputs():
    return []
