"""Two fixed linear transforms of frames, their energy on a log scale through a bank of filters."""
import torch
import torch.nn as nn
import torch.nn.functional as F

FRAMES = 400
LENGTH = 160
BINS = 81
BANDS = 40


class Model(nn.Module):
    def __init__(self, length, bins, bands):
        super().__init__()
        self.register_buffer("re", torch.randn(length, bins) * 0.1)
        self.register_buffer("im", torch.randn(length, bins) * 0.1)
        self.register_buffer("bank", torch.rand(bins, bands))

    def forward(self, x):
        power = torch.matmul(x, self.re) ** 2 + torch.matmul(x, self.im) ** 2
        return torch.log(torch.clamp(power @ self.bank, min=1e-6))


def get_inputs():
    return [torch.randn(FRAMES, LENGTH)]


def get_init_inputs():
    return [LENGTH, BINS, BANDS]
