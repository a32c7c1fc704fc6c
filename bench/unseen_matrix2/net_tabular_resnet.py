"""Residual blocks of linear layers with batch norms over columns of a table."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 256
IN = 30
WIDTH = 64
OUT = 5


class Model(nn.Module):
    def __init__(self, c_in, width, out):
        super().__init__()
        self.first = nn.Linear(c_in, width)
        self.norms = nn.ModuleList([nn.BatchNorm1d(width) for _ in range(2)])
        self.ups = nn.ModuleList([nn.Linear(width, 2 * width) for _ in range(2)])
        self.downs = nn.ModuleList([nn.Linear(2 * width, width) for _ in range(2)])
        self.head = nn.Linear(width, out)

    def forward(self, x):
        x = self.first(x)
        for norm, up, down in zip(self.norms, self.ups, self.downs):
            x = x + down(F.relu(up(norm(x))))
        return self.head(F.relu(x))


def get_inputs():
    return [torch.randn(BATCH, IN)]


def get_init_inputs():
    return [IN, WIDTH, OUT]
