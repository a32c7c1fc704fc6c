import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(channels))
        self.register_buffer("shift", torch.randn(channels, 1, 1, 1))
    def forward(self, x):
        return torch.tanh(x * self.gamma.view(1, -1, 1, 1, 1) + self.shift)
def get_inputs():
    return [torch.randn(2, 6, 4, 10, 12)]
def get_init_inputs():
    return [6]
