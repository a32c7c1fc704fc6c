# Heads repeated.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return x[:, :, None, :, :].expand(2, 4, 3, 8, 16).reshape(2, 12, 8, 16)


def get_inputs():
    return [torch.randn(2, 4, 8, 16)]


def get_init_inputs():
    return []
