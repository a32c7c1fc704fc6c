"""RegNet: three stages of two 3 x 3 convolutions with batch norm and a max pool.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 8
IN_CHANNELS = 3
SIDE = 224
WIDTHS = [64, 128, 256]
CLASSES = 10


def stage(before, width):
    return nn.Sequential(
        nn.Conv2d(before, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.MaxPool2d(2))


class Model(nn.Module):
    def __init__(self, in_channels, widths, classes):
        super().__init__()
        sizes = [in_channels] + list(widths)
        self.feature_extractor = nn.Sequential(*[stage(a, b) for a, b in zip(sizes, widths)])
        self.fc = nn.Linear(widths[-1], classes)

    def forward(self, x):
        return self.fc(self.feature_extractor(x).mean(dim=(2, 3)))


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [IN_CHANNELS, WIDTHS, CLASSES]
