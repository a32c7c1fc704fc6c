# int64 weights of rows, a bf16 result.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, m):
        return (x * m.to(torch.float32) + 1).to(torch.bfloat16)


def get_inputs():
    return [torch.randn(64, 50), torch.randint(0, 5, (64, 1))]


def get_init_inputs():
    return []
