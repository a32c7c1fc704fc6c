"""Balance loss of a router: share of tokens by best expert times mean probability.

category: head
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 60000
EXPERTS = 64


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, logits):
        p = torch.softmax(logits, dim=-1)
        best = torch.argmax(logits, dim=-1)
        share = F.one_hot(best, self.n).float().mean(dim=0)
        return self.n * (share * p.mean(dim=0)).sum()


def get_inputs():
    return [torch.randn(TOKENS, EXPERTS)]


def get_init_inputs():
    return [EXPERTS]
