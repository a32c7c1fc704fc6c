"""Rotary embedding of neighbouring pairs in the first part of each head; the rest of the head passes."""
import torch
import torch.nn as nn

BATCH = 2
HEADS = 10
TOKENS = 1000
HEAD = 96
PART = 64


class Model(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, q, cos, sin):
        turned = q[..., :self.part]
        even = turned[..., 0::2]
        odd = turned[..., 1::2]
        pairs = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return torch.cat((pairs.flatten(-2), q[..., self.part:]), dim=-1)


def get_inputs():
    angles = torch.rand(TOKENS, PART // 2)
    return [torch.randn(BATCH, HEADS, TOKENS, HEAD), torch.cos(angles), torch.sin(angles)]


def get_init_inputs():
    return [PART]
