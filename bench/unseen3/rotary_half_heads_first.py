"""Rotates the first half of each head, heads in front of the positions.

category: rotary
"""
import torch
import torch.nn as nn

BATCH = 4
HEADS = 12
STEPS = 400
DIM = 96


class Model(nn.Module):
    def forward(self, q, cos, sin):
        n = cos.shape[1]
        rot, rest = q[..., :n], q[..., n:]
        a, b = rot.chunk(2, dim=-1)
        turned = torch.cat((-b, a), dim=-1)
        return torch.cat((rot * cos + turned * sin, rest), dim=-1)


def get_inputs():
    return [
        torch.randn(BATCH, HEADS, STEPS, DIM),
        torch.rand(STEPS, DIM // 2),
        torch.rand(STEPS, DIM // 2),
    ]


def get_init_inputs():
    return []
