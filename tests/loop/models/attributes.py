import torch
import torch.nn as nn


class Model(nn.Module):
    """A gate, then a moving average: three numbers of the constructor."""

    def __init__(self, alpha=1.5, decay=0.9, size=4):
        super().__init__()
        self.alpha = alpha
        self.decay = decay
        self.size = size

    def forward(self, x, state):
        return self.decay * state + (1 - self.decay) * torch.sigmoid(x * self.alpha)


def get_inputs():
    return [torch.randn(6, 40), torch.randn(6, 40)]


def get_init_inputs():
    return [2.5]
