import torch
import torch.nn as nn
import torch.nn.functional as F
COUNT = 1
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        global COUNT
        COUNT += 1
        return x * COUNT

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
