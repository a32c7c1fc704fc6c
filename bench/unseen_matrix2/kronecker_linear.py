"""A Kronecker product of two small matrices times a batch of vectors, without forming it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 256
P = 24
Q = 40
R = 32
S = 48


class Model(nn.Module):
    def __init__(self, p, q, r, s):
        super().__init__()
        self.left = nn.Parameter(torch.randn(p, r) * 0.1)
        self.right = nn.Parameter(torch.randn(q, s) * 0.1)

    def forward(self, x):
        y = x.view(x.shape[0], self.left.shape[0], self.right.shape[0])
        y = torch.matmul(y, self.right)
        y = torch.matmul(self.left.t(), y)
        return y.flatten(1)


def get_inputs():
    return [torch.randn(BATCH, P * Q)]


def get_init_inputs():
    return [P, Q, R, S]
