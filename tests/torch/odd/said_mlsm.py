import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, t, w):
        return F.multilabel_soft_margin_loss(x, t), F.multilabel_soft_margin_loss(x, t, w, reduction='sum')


def get_inputs():
    return [torch.randn(10, 33), torch.randint(0, 2, (10, 33)).float(), torch.rand(33)]


def get_init_inputs():
    return []
