"""Largest value of windows five planes deep."""
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.MaxPool3d((5,2,2), stride=1, padding=(2,0,1))
    def forward(self, x):
        return self.p(x)
def get_inputs():
    return [torch.randn(2, 9, 23, 70)]
def get_init_inputs():
    return []
