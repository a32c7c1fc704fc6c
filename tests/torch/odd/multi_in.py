import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        a, (b, c) = x, y
        return a + b * c['w']

def get_inputs():
    return [torch.randn(3), (torch.randn(3), {'w': torch.randn(3)})]

def get_init_inputs():
    return []
