import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, gamma, beta):
        return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)


def get_inputs():
    return [torch.randn(67, 301), torch.randn(301), torch.randn(301)]


def get_init_inputs():
    return []
