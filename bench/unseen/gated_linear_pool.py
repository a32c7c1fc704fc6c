"""Softmax over time as weights of a sum over time, per channel.

category: mixer
"""
import torch
import torch.nn as nn

BATCH = 8
TOKENS = 400
WIDTH = 640


class Model(nn.Module):
    def forward(self, x, score):
        w = torch.softmax(score, dim=1)
        return (x * w).sum(dim=1)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, WIDTH),
        torch.randn(BATCH, TOKENS, WIDTH),
    ]


def get_init_inputs():
    return []
