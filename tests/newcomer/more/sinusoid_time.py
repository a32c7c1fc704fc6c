import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Diffusion timestep embedding of int64 steps."""

    def __init__(self, dim, max_period=10000):
        super().__init__()
        import math
        half = dim // 2
        self.register_buffer("freqs", torch.exp(-math.log(max_period) * torch.arange(half).float() / half))

    def forward(self, t):
        args = t[:, None].float() * self.freqs[None]
        return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


def get_inputs():
    return [torch.randint(0, 1000, (64,))]


def get_init_inputs():
    return [128]
