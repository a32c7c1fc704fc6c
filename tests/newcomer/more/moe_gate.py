# The two largest shares of a row, renormalised.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        p = F.softmax(x, dim=-1)
        v, i = torch.topk(p, 2, dim=-1)
        return v / v.sum(-1, keepdim=True), i


def get_inputs():
    return [torch.randn(64, 16)]


def get_init_inputs():
    return []
