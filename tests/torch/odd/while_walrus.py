import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        n = 0
        while (n := n + 1) < 4:
            x = x * 0.5 + n
            if n == 2: continue
            y = y + x
        else:
            y = y * 2
        return y

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
