import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        def fact(n):
            return 1 if n <= 1 else n * fact(n - 1)
        return x * fact(10)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
