"""Logits of tokens already seen are divided or multiplied by a penalty, then log-softmax.

category: head
"""
import torch
import torch.nn as nn

ROWS = 128
VOCAB = 16001


class Model(nn.Module):
    def forward(self, logits, seen):
        scaled = torch.where(logits > 0, logits / 1.3, logits * 1.3)
        x = torch.where(seen > 0.5, scaled, logits)
        return torch.log_softmax(x, dim=-1)


def get_inputs():
    return [
        torch.randn(ROWS, VOCAB),
        torch.rand(ROWS, VOCAB),
    ]


def get_init_inputs():
    return []
