"""Fake quantisation of weights by channel.

category: quant
"""
import torch
import torch.nn as nn

OUT = 1024
IN = 2048


class Model(nn.Module):
    def forward(self, w, scale, zero):
        q = torch.clamp(torch.round(w / scale[:, None]) + zero[:, None], -8, 7)
        return (q - zero[:, None]) * scale[:, None]


def get_inputs():
    return [
        torch.randn(OUT, IN),
        torch.rand(OUT) * 0.2 + 0.1,
        torch.zeros(OUT),
    ]


def get_init_inputs():
    return []
