# Integer division, remainder, bits.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, a, b):
        return (a // b) + (a % b) * 2 + (a & b) - (a >> 1)


def get_inputs():
    return [torch.randint(0, 1000, (40, 33), dtype=torch.int32), torch.randint(1, 17, (40, 33), dtype=torch.int32)]


def get_init_inputs():
    return []
