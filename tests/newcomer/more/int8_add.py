# Arithmetic of int8.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, a, b):
        return a + b, torch.maximum(a, b), (a > b)


def get_inputs():
    return [torch.randint(-60, 60, (20, 33), dtype=torch.int8), torch.randint(-60, 60, (20, 33), dtype=torch.int8)]


def get_init_inputs():
    return []
