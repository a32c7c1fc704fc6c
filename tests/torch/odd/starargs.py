import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        def g(*ts, **kw):
            a, *rest = ts
            return a + sum(rest) * kw['s']
        args = (x, y, x)
        return g(*args, **{'s': 0.5})

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
