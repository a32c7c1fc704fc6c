"""Layer norm modulated per sample: scale and shift come from another network, as in diffusion transformers.

category: norm
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
TOKENS = 256
WIDTH = 1152


class Model(nn.Module):
    def forward(self, x, scale, shift):
        n = F.layer_norm(x, (x.shape[-1],))
        return n * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


def get_inputs():
    return [
        torch.randn(BATCH, TOKENS, WIDTH),
        torch.randn(BATCH, WIDTH),
        torch.randn(BATCH, WIDTH),
    ]


def get_init_inputs():
    return []
