# Group norm inside a residual block.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()
        self.w = nn.Parameter(torch.randn(16))
        self.b = nn.Parameter(torch.randn(16))

    def forward(self, x):
        return F.relu(F.group_norm(x, 4, self.w, self.b)) + x


def get_inputs():
    return [torch.randn(3, 16, 9, 11)]


def get_init_inputs():
    return []
