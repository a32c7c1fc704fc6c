"""SqueezeNet 1.0: fire modules with three max pools, a 1 x 1 convolution as classifier.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 64
SIDE = 512
CLASSES = 1000


class Fire(nn.Module):
    def __init__(self, channels, squeezed, wide1, wide3):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, wide1, 1)
        self.expand3x3 = nn.Conv2d(squeezed, wide3, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.expand1x1(x)), torch.relu(self.expand3x3(x))], dim=1)


def shrink():
    return nn.MaxPool2d(3, stride=2, ceil_mode=True)


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, 7, stride=2), nn.ReLU(), shrink(),
            Fire(96, 16, 64, 64), Fire(128, 16, 64, 64), Fire(128, 32, 128, 128), shrink(),
            Fire(256, 32, 128, 128), Fire(256, 48, 192, 192), Fire(384, 48, 192, 192),
            Fire(384, 64, 256, 256), shrink(),
            Fire(512, 64, 256, 256))
        self.classifier = nn.Sequential(
            nn.Dropout(0.0), nn.Conv2d(512, classes, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))

    def forward(self, x):
        return self.classifier(self.features(x)).flatten(1)


def get_inputs():
    return [torch.rand(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [CLASSES]
