# Three axes in the opposite order.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return x.permute(2, 1, 0).contiguous()


frames = 128
height = 96
width = 200


def get_inputs():
    return [torch.rand(frames, height, width)]


def get_init_inputs():
    return []
