import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, k=3, n=3.0):
        super().__init__()
        self.k, self.n = k, n

    def forward(self, x):
        w = F.pad(x.unsqueeze(1), (self.k, self.k), mode='replicate').squeeze(1).unfold(-1, 2 * self.k + 1, 1)
        med = w.median(-1).values
        mad = 1.4826 * (w - med.unsqueeze(-1)).abs().median(-1).values
        out = (x - med).abs() > self.n * mad
        return torch.where(out, med, x), out


def get_inputs():
    return [torch.randn(6, 80)]
