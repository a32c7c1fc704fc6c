"""A mean that decays by an argument that f32 does not hold exactly."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, x, y):
        return x * self.decay + y


def get_inputs():
    return [torch.randn(70001), torch.randn(70001)]


def get_init_inputs():
    return [0.9]
