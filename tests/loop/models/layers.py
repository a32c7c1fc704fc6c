import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, widths, eps):
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.randn(w)) for w in widths])
        self.eps = eps
    def forward(self, x):
        for s in self.scales:
            x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * s
        return x
def get_inputs():
    return [torch.randn(4, 12, 80)]
def get_init_inputs():
    return [[80, 80], 1e-5]
