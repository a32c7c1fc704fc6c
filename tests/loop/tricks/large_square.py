"""x * x on 32 MiB: full size is never judged with values, half of it is."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * x


def get_inputs():
    return [torch.randn(4096, 2048)]


def get_init_inputs():
    return []
