# Bytes of an image, transposed, to f16.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return (x.permute(0, 3, 1, 2).float() / 255.0).half()


def get_inputs():
    return [torch.randint(0, 256, (2, 8, 9, 3), dtype=torch.uint8)]


def get_init_inputs():
    return []
