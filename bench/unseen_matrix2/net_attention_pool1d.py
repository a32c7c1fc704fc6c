"""Convolutions in time, attention weights over steps, a classifier."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
IN = 12
STEPS = 80
OUT = 6


class Model(nn.Module):
    def __init__(self, c_in, out):
        super().__init__()
        self.a = nn.Conv1d(c_in, 32, 5, padding=2)
        self.b = nn.Conv1d(32, 48, 5, stride=2, padding=2)
        self.score = nn.Linear(48, 1)
        self.head = nn.Linear(48, out)

    def forward(self, x):
        h = F.gelu(self.b(F.gelu(self.a(x)))).transpose(1, 2)
        w = torch.softmax(self.score(torch.tanh(h)), dim=1)
        return F.log_softmax(self.head((w * h).sum(1)), dim=-1)


def get_inputs():
    return [torch.randn(BATCH, IN, STEPS)]


def get_init_inputs():
    return [IN, OUT]
