"""x * x on 16 MiB: full size is not judged with values."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * x


def get_inputs():
    return [torch.randn(2048, 2048)]


def get_init_inputs():
    return []
