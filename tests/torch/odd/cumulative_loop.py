import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        acc = x[0]
        for i in range(1, len(x)):
            acc = torch.maximum(acc, x[i]) if i % 2 else acc + x[i]
        return acc, [t.item() for t in x.flatten()[:2]][0] > -100

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
