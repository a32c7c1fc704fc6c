# How far each value is from the mean of the steps before it, in their standard deviations; the first steps see only themselves.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def forward(self, series):
        before = F.pad(series, (self.steps - 1, 0), mode="replicate").unfold(-1, self.steps, 1)
        return (series - before.mean(-1)) / (before.std(-1, unbiased=False) + 1e-5)


def get_inputs():
    return [torch.randn(4, 6, 50)]


def get_init_inputs():
    return [7]
