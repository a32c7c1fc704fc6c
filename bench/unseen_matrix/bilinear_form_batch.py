"""x^T W y for a batch of pairs of vectors, several outputs."""
import torch
import torch.nn as nn

BATCH = 512
LEFT = 128
RIGHT = 160
OUT = 24


class Model(nn.Module):
    def __init__(self, left, right, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, left, right) * 0.05)
        self.bias = nn.Parameter(torch.randn(out))

    def forward(self, x, y):
        return torch.einsum("bi,oij,bj->bo", x, self.weight, y) + self.bias


def get_inputs():
    return [torch.randn(BATCH, LEFT), torch.randn(BATCH, RIGHT)]


def get_init_inputs():
    return [LEFT, RIGHT, OUT]
