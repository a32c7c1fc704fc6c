"""The 70 largest of a long row of which few elements are allowed; where those are fewer than 70, -inf
elements are taken in their order."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, scores, allowed):
        best, place = torch.topk(scores.masked_fill(allowed < 2.2, float('-inf')), 70, dim=-1)
        return torch.softmax(best, dim=-1), place


def get_inputs():
    return [torch.randn(3, 13000), torch.randn(3, 13000)]


def get_init_inputs():
    return []
