import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.diag_embed(x), torch.diag_embed(x, 2), torch.diag_embed(x, -1), torch.diag_embed(x, 1, 0, 2), torch.diagflat(x), torch.diagflat(x, -2)


def get_inputs():
    return [torch.randn(4, 7)]


def get_init_inputs():
    return []
