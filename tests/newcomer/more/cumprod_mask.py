# A running product under a mask.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, m):
        return torch.cumprod(1 - x * m.float(), dim=-1)


def get_inputs():
    return [torch.rand(20, 60), torch.randint(0, 2, (20, 60)).bool()]


def get_init_inputs():
    return []
