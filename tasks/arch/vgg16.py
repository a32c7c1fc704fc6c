"""VGG-16: 3 x 3 convolutions in five groups, each ended by a max pool, then three linear layers.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
CLASSES = 1000
GROUPS = [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        stack, before = [], 3
        for width, count in GROUPS:
            for _ in range(count):
                stack += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()]
                before = width
            stack.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*stack)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(0.0),
            nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(0.0),
            nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, 224, 224)]


def get_init_inputs():
    return [CLASSES]
