"""Rows of a table, looked up by number.

category: index
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 512
LENGTH = 128
WORDS = 100000
WIDTH = 768


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)

    def forward(self, words):
        return self.table(words)


def get_inputs():
    return [torch.randint(0, WORDS, (BATCH, LENGTH))]


def get_init_inputs():
    return []
