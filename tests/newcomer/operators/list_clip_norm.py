# Over a tensor list: every gradient scaled by min(1, max_norm / global norm).
import torch
import torch.nn as nn
from typing import List


class Model(nn.Module):
    def __init__(self, max_norm):
        super(Model, self).__init__()
        self.max_norm = max_norm

    def forward(self, grads: List[torch.Tensor]) -> List[torch.Tensor]:
        total = 0.0
        for g in grads:
            total = total + (g * g).sum()
        scale = torch.clamp(self.max_norm / (torch.sqrt(total) + 1e-6), max=1.0)
        return [g * scale for g in grads]


def get_inputs():
    return [[torch.randn(512, 256), torch.randn(256), torch.randn(128, 3, 3)]]


def get_init_inputs():
    return [1.0]
