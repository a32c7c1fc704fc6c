"""The mean of two rows of a table, picked by two lists of indices.

category: index
pattern: index
"""
import torch
import torch.nn as nn

ROWS = 65536
WIDTH = 1024
COUNT = 32768


class Model(nn.Module):
    def forward(self, table, first, second):
        return (table[first] + table[second]) / 2


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randint(0, ROWS, (COUNT,)), torch.randint(0, ROWS, (COUNT,))]


def get_init_inputs():
    return []
