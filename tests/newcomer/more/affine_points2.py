import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, p, A, b):
        return p @ A.T + b, torch.einsum('ni,ij,nj->n', p, A, p)


def get_inputs():
    return [torch.randn(300, 2), torch.randn(2, 2), torch.randn(2)]
