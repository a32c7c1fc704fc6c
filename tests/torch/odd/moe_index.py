import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3, bias=False)
        self.experts = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
    def forward(self, x):
        idx = self.gate(x).argmax(-1)
        out = torch.empty_like(x)
        for e in range(3):
            rows = (idx == e).nonzero(as_tuple=True)[0]
            if rows.numel() > 0:
                out[rows] = self.experts[e](x[rows])
        return out

def get_inputs():
    return [torch.randn(6, 8)]

def get_init_inputs():
    return []
