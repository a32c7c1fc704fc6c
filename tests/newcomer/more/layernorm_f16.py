# A norm in f16.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()
        self.w = nn.Parameter(torch.ones(64, dtype=torch.float16))
        self.b = nn.Parameter(torch.zeros(64, dtype=torch.float16))

    def forward(self, x):
        return F.layer_norm(x, (64,), self.w, self.b)


def get_inputs():
    return [torch.randn(20, 64, dtype=torch.float16)]


def get_init_inputs():
    return []
