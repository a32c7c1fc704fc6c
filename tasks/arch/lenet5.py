"""LeNet-5: two convolutions with max pooling, three linear layers.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4096
CLASSES = 20


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, x):
        for conv in (self.conv1, self.conv2):
            x = F.max_pool2d(F.relu(conv(x)), 2)
        x = x.reshape(-1, 16 * 5 * 5)
        x = F.relu(self.fc2(F.relu(self.fc1(x))))
        return self.fc3(x)


def get_inputs():
    return [torch.rand(BATCH, 1, 32, 32)]


def get_init_inputs():
    return [CLASSES]
