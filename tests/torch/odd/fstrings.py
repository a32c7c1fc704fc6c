import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def op_3(self, x):
        return x.sum(-1)
    def forward(self, x, y):
        name = f'{x.shape[0]:>3d}-{x.dim()!r:5}'
        assert len(name) == 9, f'bad {name=}'
        return getattr(self, f'op_{x.dim()}')(x)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
