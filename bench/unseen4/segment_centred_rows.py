"""Rows minus the mean of their segment, segments given by an index per row."""
import torch
import torch.nn as nn

ROWS = 8000
WIDTH = 250
SEGMENTS = 125


class Model(nn.Module):
    def __init__(self, segments):
        super().__init__()
        self.segments = segments

    def forward(self, x, segment):
        total = torch.zeros(self.segments, x.shape[1]).index_add(0, segment, x)
        count = torch.zeros(self.segments).index_add(0, segment, torch.ones_like(x[:, 0]))
        mean = total / count.clamp(min=1.0).unsqueeze(1)
        return x - mean[segment]


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randint(0, SEGMENTS, (ROWS,))]


def get_init_inputs():
    return [SEGMENTS]
