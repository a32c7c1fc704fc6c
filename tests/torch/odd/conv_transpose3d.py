import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.ConvTranspose3d(2, 4, 3, stride=2, padding=1, output_padding=1, groups=2, dilation=1)
    def forward(self, x):
        return self.c(x)

def get_inputs():
    return [torch.randn(1, 2, 3, 3, 3)]

def get_init_inputs():
    return []
