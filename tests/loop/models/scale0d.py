import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(0.7))
    def forward(self, logits, bias):
        z = logits / self.temperature + bias
        return z, z.max()
N, C = 33, 70
def get_inputs():
    return [torch.randn(N, C), torch.randn(())]
def get_init_inputs():
    return []
