import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        acts = {'a': lambda t: t.relu(), 'b': (lambda t, k=2: t ** k)}
        return sum(map(lambda k: acts[k](x), sorted(acts)), torch.zeros_like(x))

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
