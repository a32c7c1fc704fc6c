"""A linear layer with a low-rank correction: x W^T + scale * (x A) B."""
import torch
import torch.nn as nn

TOKENS = 4096
WIDTH = 2048
RANK = 16


class Model(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width)
        self.lora_a = nn.Parameter(torch.randn(width, rank) * 0.02)
        self.lora_b = nn.Parameter(torch.randn(rank, width) * 0.02)
        self.scale = 2.0

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_a @ self.lora_b)


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH, RANK]
