import torch
import torch.nn as nn

batch = 1024
width = 1024


class Model(nn.Module):
    """Matrix product, bias, relu."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.layer(x))


def get_inputs():
    return [torch.randn(batch, width)]


def get_init_inputs():
    return [width]
