import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x * y


def get_inputs():
    return [torch.complex(torch.rand(64, 48), torch.rand(64, 48)), torch.complex(torch.rand(64, 48), torch.rand(64, 48))]


def get_init_inputs():
    return []
