"""An inverted bottleneck: pointwise, depthwise 5 x 5, pointwise, each with batch norm.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
IN_CHANNELS = 112
OUT_CHANNELS = 192
KERNEL = 5
STRIDE = 2
EXPANSION = 6
SIDE = 224


class Model(nn.Module):
    def __init__(self, before, after, kernel, stride, expansion):
        super().__init__()
        width = before * expansion
        self.adds = stride == 1 and before == after
        if expansion != 1:
            self.expand_conv = nn.Sequential(
                nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6())
        else:
            self.expand_conv = nn.Identity()
        self.depthwise_conv = nn.Sequential(
            nn.Conv2d(width, width, kernel, stride, (kernel - 1) // 2, groups=width, bias=False),
            nn.BatchNorm2d(width), nn.ReLU6())
        self.project_conv = nn.Sequential(
            nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.project_conv(self.depthwise_conv(self.expand_conv(x)))
        return y + x if self.adds else y


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, EXPANSION]
