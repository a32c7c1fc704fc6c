"""Attention whose heads are mixed by matrices before and after the softmax."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
HEADS = 8
STEPS = 48
WIDTH = 32


class Model(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.before = nn.Parameter(torch.randn(heads, heads) * 0.3)
        self.after = nn.Parameter(torch.randn(heads, heads) * 0.3)

    def forward(self, q, k, v):
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
        s = torch.einsum("bhqk,hg->bgqk", s, self.before)
        w = torch.softmax(s, dim=-1)
        w = torch.einsum("bhqk,hg->bgqk", w, self.after)
        return torch.einsum("bhqk,bhkd->bhqd", w, v)


def get_inputs():
    return [torch.randn(BATCH, HEADS, STEPS, WIDTH), torch.randn(BATCH, HEADS, STEPS, WIDTH), torch.randn(BATCH, HEADS, STEPS, WIDTH)]


def get_init_inputs():
    return [HEADS]
