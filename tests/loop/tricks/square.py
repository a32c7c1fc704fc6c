"""x * x on 256 MiB: full size is not judged with values."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * x


def get_inputs():
    return [torch.randn(8192, 8192)]


def get_init_inputs():
    return []
