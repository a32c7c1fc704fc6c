import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.bn = nn.BatchNorm2d(c).eval()
    def forward(self, x, residual):
        return F.relu(self.bn(x) + residual)
def get_inputs():
    return [torch.randn(2, 8, 7, 9), torch.randn(2, 8, 7, 9)]
def get_init_inputs():
    return [8]
