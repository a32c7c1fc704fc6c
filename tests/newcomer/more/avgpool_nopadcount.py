# A mean that leaves the padding out.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)


def get_inputs():
    return [torch.randn(2, 4, 15, 17)]


def get_init_inputs():
    return []
