import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(8, 2, batch_first=True)
    def forward(self, x):
        o, w = self.a(x, x, x, need_weights=True)
        return o, w

def get_inputs():
    return [torch.randn(2, 5, 8)]

def get_init_inputs():
    return []
