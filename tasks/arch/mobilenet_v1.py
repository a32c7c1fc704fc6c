"""MobileNet V1: depthwise 3 x 3 and pointwise convolutions with batch norm.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
IN_CHANNELS = 3
SIDE = 224
CLASSES = 1000
ALPHA = 1.0
STEPS = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)] \
    + [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]


def normed(before, after, kernel, stride, groups=1):
    conv = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(after), nn.ReLU()]


class Model(nn.Module):
    def __init__(self, classes, in_channels, alpha):
        super().__init__()
        parts = [nn.Sequential(*normed(in_channels, int(32 * alpha), 3, 2))]
        for before, after, stride in STEPS:
            a, b = int(before * alpha), int(after * alpha)
            parts.append(nn.Sequential(*normed(a, a, 3, stride, groups=a), *normed(a, b, 1, 1)))
        self.model = nn.Sequential(*parts, nn.AvgPool2d(7))
        self.fc = nn.Linear(int(1024 * alpha), classes)

    def forward(self, x):
        return self.fc(self.model(x).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CLASSES, IN_CHANNELS, ALPHA]
