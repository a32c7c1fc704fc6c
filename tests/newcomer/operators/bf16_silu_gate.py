# bf16 in, bf16 out: y = silu(a * scale) * b, where scale has one entry per column.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super(Model, self).__init__()
        self.scale = nn.Parameter(torch.ones(width, dtype=torch.bfloat16))

    def forward(self, a, b):
        h = a * self.scale
        return (h * torch.sigmoid(h) * b).to(torch.bfloat16)


rows = 384
width = 1536


def get_inputs():
    return [torch.randn(rows, width, dtype=torch.bfloat16), torch.randn(rows, width, dtype=torch.bfloat16)]


def get_init_inputs():
    return [width]
