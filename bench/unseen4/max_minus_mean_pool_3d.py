"""Maximum minus mean over odd windows of a volume."""
import torch
import torch.nn as nn

BATCH = 2
CHANNELS = 24
DEPTH = 19
HEIGHT = 62
WIDTH = 61


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.most = nn.MaxPool3d((3, 2, 3), stride=(2, 2, 2), padding=(1, 0, 1))
        self.mean = nn.AvgPool3d((3, 2, 3), stride=(2, 2, 2), padding=(1, 0, 1))

    def forward(self, x):
        return self.most(x) - self.mean(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
