"""Rows with a one where a label says."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = 5000


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes

    def forward(self, index):
        return F.one_hot(index.long(), self.classes).float()


def get_inputs():
    return [torch.randint(0, CLASSES, (500,), dtype=torch.int32)]


def get_init_inputs():
    return [CLASSES]
