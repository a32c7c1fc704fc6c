"""A mean over single elements: at this size the task is a copy."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


def get_inputs():
    return [torch.randn(640, 1)]


def get_init_inputs():
    return []
