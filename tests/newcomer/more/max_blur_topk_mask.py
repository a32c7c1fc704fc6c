import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        v, i = torch.topk(x.abs(), k=5, dim=1)
        m = torch.zeros_like(x, dtype=torch.bool).scatter_(1, i, True)
        return torch.where(m, x, 0.0), m.sum(1)


def get_inputs():
    return [torch.randn(64, 50)]
