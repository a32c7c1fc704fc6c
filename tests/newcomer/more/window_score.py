import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(1))

    def forward(self, x):
        return (x[:, 6:] - x.unfold(-1, 7, 1).mean(-1)) / (x.unfold(-1, 7, 1).std(-1) + 1e-5) * self.w

def get_inputs():
    return [torch.randn(16, 500)]

def get_init_inputs():
    return []
