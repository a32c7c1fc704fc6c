# A norm with given statistics.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()
        self.m = nn.Parameter(torch.randn(6))
        self.v = nn.Parameter(torch.rand(6) + 0.5)
        self.w = nn.Parameter(torch.randn(6))
        self.b = nn.Parameter(torch.randn(6))

    def forward(self, x):
        return F.relu(F.batch_norm(x, self.m, self.v, self.w, self.b, False, 0.1, 1e-5))


def get_inputs():
    return [torch.randn(3, 6, 7, 8)]


def get_init_inputs():
    return []
