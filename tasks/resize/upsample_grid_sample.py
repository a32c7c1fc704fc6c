"""Images doubled in size, then seen through an affine map.

category: resize
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 64
HEIGHT = 64
WIDTH = 64


class Model(nn.Module):
    def forward(self, x, theta):
        x = F.interpolate(x, scale_factor=2.0, mode='bilinear', align_corners=False)
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        return F.grid_sample(x, grid, mode='bilinear', align_corners=False)


def get_inputs():
    same = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]] * BATCH)
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH), same]


def get_init_inputs():
    return []
