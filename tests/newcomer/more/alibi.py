# Scores with a bias by distance, softmax.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, s, slopes):
        n = s.shape[-1]
        pos = torch.arange(n)
        bias = (pos[None, :] - pos[:, None]).abs().neg().float()
        return F.softmax(s + slopes.view(-1, 1, 1) * bias, dim=-1)


def get_inputs():
    return [torch.randn(2, 4, 24, 24), torch.rand(4)]


def get_init_inputs():
    return []
