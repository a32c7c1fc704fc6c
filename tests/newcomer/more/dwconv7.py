import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """ConvNeXt depthwise 7x7 then channels-last LayerNorm."""

    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)

    def forward(self, x):
        return self.norm(self.dwconv(x).permute(0, 2, 3, 1))


def get_inputs():
    return [torch.randn(2, 16, 14, 14)]


def get_init_inputs():
    return [16]
