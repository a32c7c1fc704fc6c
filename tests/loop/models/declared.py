"""x * scale, doubled where the flag says so.

in   x      f32
out  y      f32
attr scale  float 0.25
attr axis   int -1
attr twice  bool True
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale=0.25):
        return x * scale * 2


def get_inputs():
    return [torch.randn(5, 33), 0.25]
