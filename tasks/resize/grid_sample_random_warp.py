"""Images sampled on a grid that is shaken a little.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 3
HEIGHT = 256
WIDTH = 256


class Model(nn.Module):
    def forward(self, x, grid):
        return F.grid_sample(x, grid, mode='bilinear', align_corners=False)


def get_inputs():
    x = torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)
    same = torch.eye(2, 3).unsqueeze(0).repeat(BATCH, 1, 1)
    grid = F.affine_grid(same, x.shape, align_corners=False)
    return [x, grid + torch.rand_like(grid) * 0.05]


def get_init_inputs():
    return []
