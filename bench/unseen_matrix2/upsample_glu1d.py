"""A transposed convolution in time whose halves gate each other."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 6
IN = 24
OUT = 20
STEPS = 60


class Model(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.up = nn.ConvTranspose1d(c_in, 2 * c_out, 4, stride=2, padding=1)

    def forward(self, x):
        a, b = self.up(x).chunk(2, dim=1)
        return a * torch.sigmoid(b)


def get_inputs():
    return [torch.randn(BATCH, IN, STEPS)]


def get_init_inputs():
    return [IN, OUT]
