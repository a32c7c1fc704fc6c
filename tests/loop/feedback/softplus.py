"""log(1 + exp(x)), small enough for tests."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.softplus(x)


def get_inputs():
    return [torch.randn(64, 640)]


def get_init_inputs():
    return []
