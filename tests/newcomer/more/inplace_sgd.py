# An optimizer step in place.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, p, g, buf):
        buf.mul_(0.9).add_(g)
        p.sub_(0.01 * buf)
        return p, buf


def get_inputs():
    return [torch.randn(30, 20), torch.randn(30, 20), torch.randn(30, 20)]


def get_init_inputs():
    return []
