"""Weights rounded to -1, 0, 1 times their mean size, as a BitNet layer does, with the scale of the row.

category: quant
"""
import torch
import torch.nn as nn

OUT = 1024
IN = 2048


class Model(nn.Module):
    def forward(self, w):
        scale = w.abs().mean(dim=1, keepdim=True).clamp(min=1e-5)
        q = torch.clamp(torch.round(w / scale), -1, 1)
        return q * scale, scale


def get_inputs():
    return [torch.randn(OUT, IN)]


def get_init_inputs():
    return []
