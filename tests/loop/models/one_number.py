"""A loss: a result without axes, beside one that has them."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y):
        return F.mse_loss(x, y), (x - y).abs().amax(dim=1)


def get_inputs():
    return [torch.randn(12, 40), torch.randn(12, 40)]


def get_init_inputs():
    return []
