"""A Gram matrix of centred columns with a shift of its diagonal, times a target."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 300
COLS = 52
TARGETS = 7


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, y):
        x = x - x.mean(dim=0)
        gram = x.T @ x / x.shape[0] + 0.1 * torch.eye(x.shape[1], device=x.device)
        return gram @ (x.T @ y)


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, TARGETS)]


def get_init_inputs():
    return []
