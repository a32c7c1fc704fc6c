"""GoogLeNet: nine inception modules without auxiliary classifiers.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
SIDE = 224
CLASSES = 1000


class Inception(nn.Module):
    def __init__(self, channels, wide1, thin3, wide3, thin5, wide5, pooled):
        super().__init__()
        self.branch1x1 = nn.Conv2d(channels, wide1, 1)
        self.branch3x3 = nn.Sequential(
            nn.Conv2d(channels, thin3, 1), nn.Conv2d(thin3, wide3, 3, padding=1))
        self.branch5x5 = nn.Sequential(
            nn.Conv2d(channels, thin5, 1), nn.Conv2d(thin5, wide5, 5, padding=2))
        self.branch_pool = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1), nn.Conv2d(channels, pooled, 1))

    def forward(self, x):
        branches = (self.branch1x1, self.branch3x3, self.branch5x5, self.branch_pool)
        return torch.cat([branch(x) for branch in branches], dim=1)


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3)
        self.conv2 = nn.Conv2d(64, 64, 1)
        self.conv3 = nn.Conv2d(64, 192, 3, padding=1)
        self.inception3a = Inception(192, 64, 96, 128, 16, 32, 32)
        self.inception3b = Inception(256, 128, 128, 192, 32, 96, 64)
        self.inception4a = Inception(480, 192, 96, 208, 16, 48, 64)
        self.inception4b = Inception(512, 160, 112, 224, 24, 64, 64)
        self.inception4c = Inception(512, 128, 128, 256, 24, 64, 64)
        self.inception4d = Inception(512, 112, 144, 288, 32, 64, 64)
        self.inception4e = Inception(528, 256, 160, 320, 32, 128, 128)
        self.inception5a = Inception(832, 256, 160, 320, 32, 128, 128)
        self.inception5b = Inception(832, 384, 192, 384, 48, 128, 128)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.dropout = nn.Dropout(0.0)
        self.fc = nn.Linear(1024, classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv3(F.relu(self.conv2(x)))))
        x = self.pool(self.inception3b(self.inception3a(x)))
        for module in (self.inception4a, self.inception4b, self.inception4c, self.inception4d,
                       self.inception4e):
            x = module(x)
        x = self.inception5b(self.inception5a(self.pool(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(self.dropout(x))


def get_inputs():
    return [torch.rand(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [CLASSES]
