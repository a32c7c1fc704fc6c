import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        l = list(range(6))[::-1][1:4]
        t = tuple('abc'[::-1])
        return x.flip(0)[:, 1::2], x[-1], x[-2:, ..., -3:-1], x[l[0] - 2], torch.flip(y, dims=(-1, 0))

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
