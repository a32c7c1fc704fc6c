import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(7))

    def forward(self, x):
        return (x.unfold(1, 7, 2) * self.w).mean(-1)

def get_inputs():
    return [torch.randn(3, 50, 20)]

def get_init_inputs():
    return []
