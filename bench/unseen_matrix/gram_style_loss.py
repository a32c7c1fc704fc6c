"""Style loss: mean squared difference of the Gram matrices of two feature maps."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
CHANNELS = 128
SIDE = 60


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def gram(self, x):
        b, c, h, w = x.shape
        f = x.view(b, c, h * w)
        return torch.bmm(f, f.transpose(1, 2)) / (c * h * w)

    def forward(self, x, target):
        return F.mse_loss(self.gram(x), self.gram(target))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE), torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return []
