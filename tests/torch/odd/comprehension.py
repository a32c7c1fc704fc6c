import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        d = {k: v for k, v in zip('abc', (x, y, x + y)) if k != 'b'}
        s = {len(k) for k in d}
        return torch.stack([v * (i + 1) for i, v in enumerate(d.values())], dim=1), sum(t.sum() for t in d.values())

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
