"""A linear recurrence over time with gates from the data, times a gated skip.

category: mixer
"""
import torch
import torch.nn as nn

BATCH = 6
STEPS = 256
WIDTH = 600


class Model(nn.Module):
    def forward(self, x, a, g):
        decay = torch.sigmoid(a)
        logs = torch.cumsum(torch.log(decay + 1e-6), dim=1)
        s = torch.cumsum(x * (1.0 - decay) * torch.exp(-logs.clamp(min=-20.0)), dim=1)
        return s * torch.exp(logs.clamp(min=-20.0)) * nn.functional.silu(g)


def get_inputs():
    return [
        torch.randn(BATCH, STEPS, WIDTH),
        torch.randn(BATCH, STEPS, WIDTH),
        torch.randn(BATCH, STEPS, WIDTH),
    ]


def get_init_inputs():
    return []
