import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('m', torch.tensor([[0.299, 0.587, 0.114], [-0.147, -0.289, 0.436], [0.615, -0.515, -0.100]]))

    def forward(self, img):
        return torch.einsum('ij,bjhw->bihw', self.m, img)


def get_inputs():
    return [torch.rand(2, 3, 64, 64)]
