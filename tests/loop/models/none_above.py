import torch
import torch.nn as nn


class Model(nn.Module):
    """Counts of labels above a limit, of which there are none: what is written was among the inputs before."""
    def forward(self, labels, limit):
        above = labels[:, :5] > limit.unsqueeze(1)
        return above.to(torch.int32).sum(dim=1).to(torch.int32), above


def get_inputs():
    return [torch.randint(0, 1, (33, 9), dtype=torch.int32), torch.randint(0, 1, (33,), dtype=torch.int32)]


def get_init_inputs():
    return []
