import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.avg_pool3d(x, 2, ceil_mode=True)


def get_inputs():
    return [torch.randn(2, 4, 9, 11, 13)]


def get_init_inputs():
    return []
