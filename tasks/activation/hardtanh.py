"""x kept between -1 and 1.

category: activation
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 4096
COLS = 393216


class Model(nn.Module):
    def forward(self, x):
        return F.hardtanh(x, min_val=-1.0, max_val=1.0)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return []
