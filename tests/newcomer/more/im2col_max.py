# Windows unfolded twice, their largest.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        w = x.unfold(2, 3, 2).unfold(3, 3, 2)
        return w.amax(dim=(-1, -2))


def get_inputs():
    return [torch.randn(2, 5, 17, 19)]


def get_init_inputs():
    return []
