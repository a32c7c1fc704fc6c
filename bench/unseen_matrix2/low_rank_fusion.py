"""Two inputs projected, multiplied, squeezed, with a softmax over groups of the result."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 320
LEFT = 100
RIGHT = 140
RANK = 96
OUT = 60


class Model(nn.Module):
    def __init__(self, left, right, rank, out):
        super().__init__()
        self.u = nn.Linear(left, rank)
        self.v = nn.Linear(right, rank)
        self.p = nn.Linear(rank, out)

    def forward(self, x, y):
        z = torch.tanh(self.u(x)) * torch.tanh(self.v(y))
        z = self.p(z)
        return torch.softmax(z.view(z.shape[0], 6, -1), dim=-1).view(z.shape[0], -1)


def get_inputs():
    return [torch.randn(BATCH, LEFT), torch.randn(BATCH, RIGHT)]


def get_init_inputs():
    return [LEFT, RIGHT, RANK, OUT]
