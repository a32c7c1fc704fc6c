"""Images seen through an affine map, here a turn by 30 degrees.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 64
HEIGHT = 128
WIDTH = 128


class Model(nn.Module):
    def forward(self, x, theta):
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        return F.grid_sample(x, grid, mode='bilinear', align_corners=False)


def get_inputs():
    turn = torch.tensor([[[0.866, -0.5, 0.0], [0.5, 0.866, 0.0]]] * BATCH)
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH), turn]


def get_init_inputs():
    return []
