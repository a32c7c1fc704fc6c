"""SwiGLU of two halves followed by per-token int8 quantisation.

category: quant
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 640
WIDTH = 2816


class Model(nn.Module):
    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        h = F.silu(gate.float()) * up.float()
        scale = h.abs().amax(dim=-1, keepdim=True) / 127
        return torch.round(h / scale).to(torch.int8), scale


def get_inputs():
    return [torch.randn(TOKENS, 2 * WIDTH, dtype=torch.float16)]


def get_init_inputs():
    return []
