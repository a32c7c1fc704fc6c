"""A core tensor multiplied by three factors."""
import torch
import torch.nn as nn
import torch.nn.functional as F

A = 30
B = 24
C = 20
R = 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, core, a, b, c):
        return torch.einsum("pqr,ip,jq,kr->ijk", core, a, b, c)


def get_inputs():
    return [torch.randn(R, R, R), torch.randn(A, R), torch.randn(B, R), torch.randn(C, R)]


def get_init_inputs():
    return []
