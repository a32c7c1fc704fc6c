# Counting by one-hot rows.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, idx):
        return F.one_hot(idx, 16).sum(0)


def get_inputs():
    return [torch.randint(0, 16, (200,))]


def get_init_inputs():
    return []
