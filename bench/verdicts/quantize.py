"""Numbers as bytes, a tenth a step."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return torch.clamp(torch.round(x * 10.0), -128, 127).to(torch.int8)


def get_inputs():
    return [torch.randn(1000003) * 10]


def get_init_inputs():
    return []
