# Elements gathered along the first dimension.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, i):
        return torch.gather(x, 0, i)


def get_inputs():
    return [torch.randn(20, 30), torch.randint(0, 20, (7, 30))]


def get_init_inputs():
    return []
