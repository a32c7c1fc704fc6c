"""Two four-bit weights in each byte, unpacked and scaled by groups.

category: quant
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 1024
COLS = 2048
GROUP = 64


class Model(nn.Module):
    def __init__(self, group):
        super().__init__()
        self.group = group

    def forward(self, packed, scale):
        low = (packed % 16).float() - 8.0
        high = torch.div(packed, 16, rounding_mode='floor').float() - 8.0
        w = torch.stack([low, high], dim=-1).reshape(packed.shape[0], -1, self.group)
        return (w * scale.unsqueeze(-1)).reshape(packed.shape[0], -1)


def get_inputs():
    return [torch.randint(0, 256, (ROWS, COLS // 2), dtype=torch.uint8), torch.rand(ROWS, COLS // GROUP)]


def get_init_inputs():
    return [GROUP]
