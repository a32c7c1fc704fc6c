"""The loss of each row's label."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, target):
        return F.cross_entropy(x, target, reduction='none')


def get_inputs():
    return [torch.randn(1000, 10007), torch.randint(0, 10007, (1000,))]


def get_init_inputs():
    return []
