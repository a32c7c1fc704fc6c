# Means of rows and of columns, three results.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, g, r, c):
        r = 0.9 * r + 0.1 * (g * g).mean(dim=1)
        c = 0.9 * c + 0.1 * (g * g).mean(dim=0)
        u = g / torch.sqrt(r.unsqueeze(1) * c.unsqueeze(0) / r.mean() + 1e-8)
        return u, r, c


def get_inputs():
    return [torch.randn(30, 20), torch.rand(30) + 0.1, torch.rand(20) + 0.1]


def get_init_inputs():
    return []
