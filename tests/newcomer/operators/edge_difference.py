# int64 indices: for every edge (s, t) of a graph, the features of t less those of s, weighted.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, edge, w):
        src = torch.index_select(x, 0, edge[0])
        dst = torch.index_select(x, 0, edge[1])
        return (dst - src) * w.unsqueeze(1)


def get_inputs():
    return [torch.randn(1000, 64), torch.randint(0, 1000, (2, 5000), dtype=torch.int64), torch.rand(5000)]


def get_init_inputs():
    return []
