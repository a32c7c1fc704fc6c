# The cost of turning one sequence into another, kept in a table that is filled and read cell by cell; what it returns names its parts.
from collections import namedtuple

import torch
import torch.nn as nn

Cost = namedtuple("Cost", ["total", "diagonal"])


class Model(nn.Module):
    def forward(self, step):
        batch, rows, columns = step.shape
        table = torch.full((batch, rows + 1, columns + 1), float("inf"))
        table[:, 0, 0] = 0
        for i in range(1, rows + 1):
            for j in range(1, columns + 1):
                before = torch.minimum(table[:, i - 1, j - 1], torch.minimum(table[:, i - 1, j], table[:, i, j - 1]))
                table[:, i, j] = step[:, i - 1, j - 1] + before
        return Cost(total=table[:, -1, -1], diagonal=table[:, 1, 1] * 2)


def get_inputs():
    return [torch.rand(40, 2, 3)]
