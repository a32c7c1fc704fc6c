"""DenseNet-121: four dense blocks with transitions between them.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
SIDE = 224
COUNTS = [6, 12, 24, 16]
GROWTH = 32
CLASSES = 10


def dense_layer(channels, growth):
    return nn.Sequential(
        nn.BatchNorm2d(channels), nn.ReLU(),
        nn.Conv2d(channels, growth, 3, padding=1, bias=False), nn.Dropout(0.0))


class DenseBlock(nn.Module):
    def __init__(self, count, channels, growth):
        super().__init__()
        self.layers = nn.ModuleList(
            [dense_layer(channels + i * growth, growth) for i in range(count)])

    def forward(self, x):
        parts = [x]
        for layer in self.layers:
            parts.append(layer(x))
            x = torch.cat(parts, dim=1)
        return x


class Transition(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2))

    def forward(self, x):
        return self.transition(x)


class Model(nn.Module):
    def __init__(self, growth, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1))
        self.dense_blocks = nn.ModuleList()
        self.transition_layers = nn.ModuleList()
        channels = 64
        for number, count in enumerate(COUNTS):
            self.dense_blocks.append(DenseBlock(count, channels, growth))
            channels += count * growth
            if number + 1 < len(COUNTS):
                self.transition_layers.append(Transition(channels))
                channels //= 2
        self.final_bn = nn.BatchNorm2d(channels)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.features(x)
        for number, block in enumerate(self.dense_blocks):
            x = block(x)
            if number < len(self.transition_layers):
                x = self.transition_layers[number](x)
        x = F.adaptive_avg_pool2d(F.relu(self.final_bn(x)), 1)
        return self.classifier(x.flatten(1))


def get_inputs():
    return [torch.rand(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [GROWTH, CLASSES]
