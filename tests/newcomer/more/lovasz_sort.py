import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, t):
        e, p = torch.sort(x, descending=True)
        g = t[p]
        j = 1 - (g.sum() - g.cumsum(0)) / (g.sum() + (1 - g).cumsum(0))
        return (F.relu(e) * j).sum()


def get_inputs():
    return [torch.randn(1000), torch.randint(0, 2, (1000,)).float()]


def get_init_inputs():
    return []
