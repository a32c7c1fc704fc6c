"""Where the largest element of each row stands; the first of equals, as PyTorch says."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=1).to(torch.int32)


def get_inputs():
    return [torch.randn(256, 3000)]


def get_init_inputs():
    return []
