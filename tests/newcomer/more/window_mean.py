"""Means of seven neighbours, as long as the input."""
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.AvgPool1d(7, stride=1, padding=3)
    def forward(self, x):
        return self.p(x)
def get_inputs():
    return [torch.randn(3, 5, 4999)]
def get_init_inputs():
    return []
