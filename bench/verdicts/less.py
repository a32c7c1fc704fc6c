"""Which halves are less than others."""
import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT = 1000003


class Model(nn.Module):
    def forward(self, x, y):
        return x < y


def get_inputs():
    return [torch.randn(COUNT).half(), torch.randn(COUNT).half()]


def get_init_inputs():
    return []
