import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, i, w, p):
        return F.embedding_bag(i, w), F.embedding_bag(i, w, mode='sum', per_sample_weights=p), F.embedding_bag(i, w, mode='max')


def get_inputs():
    return [torch.randint(0, 50, (10, 7)), torch.randn(50, 16), torch.rand(10, 7)]


def get_init_inputs():
    return []
