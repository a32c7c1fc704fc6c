"""An update divided by the largest gradient each row has seen."""
import torch
import torch.nn as nn

ROWS = 4096
COLS = 1024


class Model(nn.Module):
    def forward(self, p, g, u):
        seen = torch.maximum(0.99 * u, g.abs().amax(dim=1, keepdim=True))
        return p - 0.01 * g / (seen + 0.00001), seen


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS), torch.rand(ROWS, 1)]


def get_init_inputs():
    return []
