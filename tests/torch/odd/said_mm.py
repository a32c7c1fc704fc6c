import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, t, w):
        return F.multi_margin_loss(x, t), F.multi_margin_loss(x, t, p=2, margin=0.5, weight=w, reduction='none')


def get_inputs():
    return [torch.randn(10, 33), torch.randint(0, 33, (10,)), torch.rand(33)]


def get_init_inputs():
    return []
