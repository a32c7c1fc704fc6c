"""Divergence of a student's from a teacher's distribution at a temperature, per row.

category: loss
"""
import torch
import torch.nn as nn

ROWS = 800
CLASSES = 2600


class Model(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.t = t

    def forward(self, student, teacher):
        s = torch.log_softmax(student / self.t, dim=-1)
        t = torch.softmax(teacher / self.t, dim=-1)
        return (t * (torch.log(t + 1e-9) - s)).sum(-1) * self.t * self.t


def get_inputs():
    return [
        torch.randn(ROWS, CLASSES),
        torch.randn(ROWS, CLASSES),
    ]


def get_init_inputs():
    return [2.0]
