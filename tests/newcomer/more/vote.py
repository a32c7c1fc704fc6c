# What most neighbours say, by the mode of the labels around a point, and how sure that is.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, labels):
        winner, _ = torch.mode(labels, dim=-1, keepdim=True)
        return winner.squeeze(-1), (labels == winner).float().mean(-1)


def get_inputs():
    return [torch.randint(0, 6, (50, 11))]
