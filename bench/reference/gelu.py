import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 2048
columns = 4096


class Model(nn.Module):
    def forward(self, x):
        return F.gelu(x)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
