"""A shared body with two heads: a softmax over moves, a value between -1 and 1."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
PLANES = 10
SIZE = 9
MOVES = 82


class Model(nn.Module):
    def __init__(self, planes, moves):
        super().__init__()
        self.one = nn.Conv2d(planes, 24, 3, padding=1)
        self.two = nn.Conv2d(24, 24, 3, padding=1)
        self.policy = nn.Linear(24 * 9 * 9, moves)
        self.value = nn.Linear(24, 1)

    def forward(self, board):
        h = F.relu(self.two(F.relu(self.one(board))))
        moves = self.policy(h.flatten(1))
        value = torch.tanh(self.value(h.mean(dim=(2, 3))))
        return F.softmax(moves, dim=1), value


def get_inputs():
    return [torch.randn(BATCH, PLANES, SIZE, SIZE)]


def get_init_inputs():
    return [PLANES, MOVES]
