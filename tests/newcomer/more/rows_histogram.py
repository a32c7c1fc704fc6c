import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, x):
        idx = torch.clamp((x * self.bins).long(), 0, self.bins - 1)
        counts = F.one_hot(idx, self.bins).sum(dim=1).float()
        p = counts / counts.sum(dim=-1, keepdim=True)
        return -(p * torch.log(p + 1e-12)).sum(-1)

def get_inputs():
    return [torch.rand(24, 130)]

def get_init_inputs():
    return [16]
