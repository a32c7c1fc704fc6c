"""Nucleus sampling's mask over a vocabulary: logits behind the share p of all probability become -inf.
Logits are rounded to steps of an eighth, so that many are equal."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, logits):
        logits = torch.round(logits * 8) / 8
        ordered, place = torch.sort(logits, dim=-1, descending=True)
        share = torch.softmax(ordered, dim=-1)
        cut = torch.cumsum(share, dim=-1) - share > 0.9
        ordered = ordered.masked_fill(cut, float('-inf'))
        return ordered, place


def get_inputs():
    return [torch.randn(3, 9000)]


def get_init_inputs():
    return []
