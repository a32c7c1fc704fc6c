# Means of segments.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, seg):
        s = torch.zeros(6, 8).index_add(0, seg, x)
        n = torch.zeros(6).index_add(0, seg, torch.ones(40))
        return s / n.clamp(min=1).unsqueeze(1)


def get_inputs():
    return [torch.randn(40, 8), torch.randint(0, 6, (40,))]


def get_init_inputs():
    return []
