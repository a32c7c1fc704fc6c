"""A mix along tokens by a learned matrix, a gate along channels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 6
TOKENS = 60
WIDTH = 48


class Model(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.wide = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Parameter(torch.randn(tokens, tokens) * 0.05)
        self.narrow = nn.Linear(width, width)

    def forward(self, x):
        u, v = self.wide(x).chunk(2, dim=-1)
        v = self.norm(v)
        v = torch.einsum("st,btc->bsc", self.mix, v) + 1.0
        return self.narrow(F.gelu(u) * v)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]


def get_init_inputs():
    return [TOKENS, WIDTH]
