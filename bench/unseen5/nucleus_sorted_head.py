"""Probabilities sorted downwards, those beyond a share of the sum dropped, the rest renormalised, with token ids.

category: head
"""
import torch
import torch.nn as nn

ROWS = 500
VOCAB = 2000


class Model(nn.Module):
    def __init__(self, share):
        super().__init__()
        self.share = share

    def forward(self, logits):
        p, ids = torch.sort(torch.softmax(logits, dim=-1), dim=-1, descending=True)
        before = torch.cumsum(p, dim=-1) - p
        kept = torch.where(before < self.share, p, torch.zeros_like(p))
        return kept / kept.sum(dim=-1, keepdim=True), ids


def get_inputs():
    return [torch.randn(ROWS, VOCAB)]


def get_init_inputs():
    return [0.9]
