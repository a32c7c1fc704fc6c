# Bits put together by a constant of the file.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        w = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.int32)
        return (x.view(-1, 8).to(torch.int32) * w).sum(1)


def get_inputs():
    return [torch.randint(0, 2, (160,)).bool()]


def get_init_inputs():
    return []
