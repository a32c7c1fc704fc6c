# Bits of integers.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        s = torch.arange(8, dtype=torch.int32)
        return ((x.unsqueeze(-1) >> s) & 1).float()


def get_inputs():
    return [torch.randint(0, 256, (20,), dtype=torch.int32)]


def get_init_inputs():
    return []
