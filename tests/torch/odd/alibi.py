import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        n = x.shape[1]
        slopes = torch.tensor([2 ** (-8 * (i + 1) / 2) for i in range(2)])
        bias = -(torch.arange(n)[None, :] - torch.arange(n)[:, None]).abs() * slopes[:, None, None]
        mask = torch.full((n, n), float('-inf')).triu(1)
        s = torch.einsum('bid,bjd->bij', x, x)[:, None] / x.shape[-1] ** 0.5 + bias + mask
        return s.softmax(-1)

def get_inputs():
    return [torch.randn(2, 4, 8)]

def get_init_inputs():
    return []
