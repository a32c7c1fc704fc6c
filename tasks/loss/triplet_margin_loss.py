"""Mean of max(|a - p| - |a - n| + margin, 0), distances by row.

category: loss
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

ROWS = 32768
COLS = 8192


class Model(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.loss = nn.TripletMarginLoss(margin=margin)

    def forward(self, anchor, positive, negative):
        return self.loss(anchor, positive, negative)


def get_inputs():
    anchor = torch.rand(ROWS, COLS) * torch.rand(())
    return [anchor, torch.rand(ROWS, COLS), torch.rand(ROWS, COLS)]


def get_init_inputs():
    return [1.0]
