"""MobileNet V2 as MultiKernelBench has it: inverted bottlenecks, their shortcuts left out.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 10
CLASSES = 1000
# expansion, channels, repetitions, stride of the first
STEPS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
         (6, 320, 1, 1)]


def bottleneck(before, after, stride, expansion):
    width = before * expansion
    parts = []
    if expansion > 1:
        parts += [nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
    parts += [nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False),
              nn.BatchNorm2d(width), nn.ReLU6(),
              nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after)]
    return nn.Sequential(*parts)


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        parts = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()]
        before = 32
        for expansion, after, count, first in STEPS:
            for i in range(count):
                parts.append(bottleneck(before, after, first if i == 0 else 1, expansion))
                before = after
        parts += [nn.Conv2d(before, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(),
                  nn.AdaptiveAvgPool2d(1)]
        self.features = nn.Sequential(*parts)
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(1280, classes))
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out")
            elif isinstance(part, nn.Linear):
                nn.init.normal_(part.weight, 0, 0.01)
                nn.init.zeros_(part.bias)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, 224, 224)]


def get_init_inputs():
    return [CLASSES]
