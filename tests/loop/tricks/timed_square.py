"""x * x on 8 MiB: full size is judged with values where it is timed."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * x


def get_inputs():
    return [torch.randn(1024, 2048)]


def get_init_inputs():
    return []
