import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, y, p, i):
        return torch.logit(p), torch.logit(p, eps=0.1), torch.sinc(x), torch.heaviside(torch.round(x), y), torch.ldexp(x, i), torch.deg2rad(x), torch.rad2deg(x), torch.isposinf(x / 0), torch.isneginf(x / 0), torch.rsub(x, y, alpha=2), torch.arcsinh(x)


def get_inputs():
    return [torch.randn(10, 33), torch.randn(10, 33), torch.rand(10, 33), torch.randint(-3, 4, (10, 33))]


def get_init_inputs():
    return []
