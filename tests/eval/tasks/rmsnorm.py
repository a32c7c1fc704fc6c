import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, gamma):
        return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + 1e-6) * gamma


def get_inputs():
    return [torch.randn(67, 301), torch.randn(301)]


def get_init_inputs():
    return []
