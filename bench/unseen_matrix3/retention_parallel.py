"""Retention: scores of queries and keys, weighted by a decay of their distance, times values; no softmax."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
HEADS = 4
LENGTH = 96
WIDTH = 32
DECAY = 0.96875


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, q, k, v):
        n = torch.arange(q.shape[2], device=q.device)
        apart = (n[:, None] - n[None, :]).float()
        decay = torch.where(apart >= 0, torch.exp(apart * -0.0317), torch.zeros_like(apart))
        scores = torch.matmul(q, k.transpose(-1, -2)) * decay
        return torch.matmul(scores, v)


def get_inputs():
    return [torch.randn(BATCH, HEADS, LENGTH, WIDTH), torch.randn(BATCH, HEADS, LENGTH, WIDTH), torch.randn(BATCH, HEADS, LENGTH, WIDTH)]


def get_init_inputs():
    return []
