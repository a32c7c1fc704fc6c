# Cosines of all pairs of rows.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, a, b):
        a = F.normalize(a, dim=-1)
        b = F.normalize(b, dim=-1)
        return (a.unsqueeze(1) * b.unsqueeze(0)).sum(-1)


def get_inputs():
    return [torch.randn(20, 24), torch.randn(15, 24)]


def get_init_inputs():
    return []
