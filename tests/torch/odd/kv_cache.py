import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('k', torch.zeros(2, 0, 4))
        self.pos = 0
    def forward(self, x):
        k = torch.cat([self.k, x], dim=1)
        self.k = k
        self.pos = self.pos + x.shape[1]
        return k.cumsum(1)[:, -self.pos:], self.pos

def get_inputs():
    return [torch.randn(2, 3, 4)]

def get_init_inputs():
    return []
