"""Windows of 7 x 7 after a cyclic shift, as in Swin.

category: shuffle
"""
import torch
import torch.nn as nn

BATCH = 4
SIDE = 56
WIDTH = 96


class Model(nn.Module):
    def forward(self, x):
        s = torch.roll(x, shifts=(-3, -3), dims=(1, 2))
        b, h, w, c = s.shape
        return s.view(b, h // 7, 7, w // 7, 7, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)


def get_inputs():
    return [torch.randn(BATCH, SIDE, SIDE, WIDTH)]


def get_init_inputs():
    return []
