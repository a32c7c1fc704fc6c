import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        if x.shape[0] != 3:
            raise ValueError(f'bad shape {x.shape}')
        if not torch.is_tensor(y) or y.requires_grad:
            raise TypeError
        return torch.clamp(x, -0.5, 0.5).add(y, alpha=2).sub_(1).neg()

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
