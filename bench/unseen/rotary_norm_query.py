"""Each head's query normalised by RMS, then turned, in half precision.

category: rotary
"""
import torch
import torch.nn as nn

TOKENS = 512
HEADS = 64
DIM = 128


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(dim))

    def forward(self, q, cos, sin):
        f = q.float()
        f = f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        a, b = f[..., :64], f[..., 64:]
        c = cos.unsqueeze(1)
        s = sin.unsqueeze(1)
        return torch.cat((a * c - b * s, b * c + a * s), dim=-1).half()


def get_inputs():
    return [
        torch.randn(TOKENS, HEADS, DIM, dtype=torch.float16),
        torch.rand(TOKENS, 64),
        torch.rand(TOKENS, 64),
    ]


def get_init_inputs():
    return [DIM]
