"""One weight matrix for each head of the input."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 3000
HEADS = 12
WIDTH = 80
OUT = 112


class Model(nn.Module):
    def __init__(self, heads, width, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(heads, width, out) * 0.1)
        self.bias = nn.Parameter(torch.randn(heads, out))

    def forward(self, x):
        return F.gelu(torch.einsum("thc,hco->tho", x, self.weight) + self.bias)


def get_inputs():
    return [torch.randn(TOKENS, HEADS, WIDTH)]


def get_init_inputs():
    return [HEADS, WIDTH, OUT]
