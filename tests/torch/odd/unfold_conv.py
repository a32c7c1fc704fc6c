import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 2, 3, 3))
    def forward(self, x):
        p = F.unfold(x, 3, padding=1)
        w = self.w.view(6, -1)
        return F.fold(w @ p, (5, 5), 1), x.unfold(2, 3, 2).sum(-1)

def get_inputs():
    return [torch.randn(2, 2, 5, 5)]

def get_init_inputs():
    return []
