# Advantages: a running sum from the end.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, r, v, d):
        delta = r[:, :-1] + 0.99 * v[:, 1:] * (1 - d[:, :-1]) - v[:, :-1]
        return torch.flip(torch.cumsum(torch.flip(delta, [1]), dim=1), [1])


def get_inputs():
    return [torch.randn(6, 30), torch.randn(6, 30), torch.randint(0, 2, (6, 30)).float()]


def get_init_inputs():
    return []
