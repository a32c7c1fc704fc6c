import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(3):
            self.layers.append(nn.Linear(5, 5, bias=i != 1))
        self.layers.extend([nn.Tanh()])
        self.heads = nn.ModuleDict({'a': nn.Linear(5, 5)})
        self.heads['b'] = nn.Sigmoid()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(5)) for _ in range(2)])
        self.pd = nn.ParameterDict({'z': nn.Parameter(torch.zeros(5))})
    def forward(self, x):
        for i, l in enumerate(self.layers):
            x = l(x) + (x if i % 2 else 0)
        for k in ['a', 'b']:
            x = self.heads[k](x)
        return x * self.ps[0] + self.pd['z']

def get_inputs():
    return [torch.randn(3, 5)]

def get_init_inputs():
    return []
