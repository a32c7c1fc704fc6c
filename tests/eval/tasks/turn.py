import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.permute(1, 0).contiguous()


def get_inputs():
    return [torch.randn(67, 301)]


def get_init_inputs():
    return []
