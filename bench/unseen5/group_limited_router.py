"""Sigmoid scores with a bias per expert; the four best groups by their largest score; weights of the eight best experts.

category: head
"""
import torch
import torch.nn as nn

TOKENS = 16000
EXPERTS = 256
GROUPS = 8


class Model(nn.Module):
    def __init__(self, groups, best_groups, best, scale):
        super().__init__()
        self.groups = groups
        self.best_groups = best_groups
        self.best = best
        self.scale = scale

    def forward(self, logits, bias):
        score = torch.sigmoid(logits)
        biased = score + bias
        grouped = biased.view(biased.shape[0], self.groups, -1)
        top = grouped.amax(dim=-1)
        limit = torch.topk(top, self.best_groups, dim=-1)[0].amin(dim=-1, keepdim=True)
        allowed = (top >= limit).unsqueeze(-1).expand_as(grouped).reshape(biased.shape)
        masked = torch.where(allowed, biased, torch.full_like(biased, -1e9))
        weights, experts = torch.topk(masked, self.best, dim=-1)
        return weights / weights.sum(dim=-1, keepdim=True) * self.scale, experts


def get_inputs():
    return [torch.randn(TOKENS, EXPERTS), torch.randn(EXPERTS)]


def get_init_inputs():
    return [GROUPS, 4, 8, 2.5]
