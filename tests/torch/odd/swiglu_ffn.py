import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        hidden = int(2 * (4 * dim) / 3)
        hidden = 8 * ((hidden + 8 - 1) // 8)
        self.w1, self.w2, self.w3 = (nn.Linear(dim, hidden, bias=False), nn.Linear(hidden, dim, bias=False), nn.Linear(dim, hidden, bias=False))
    def forward(self, x: torch.Tensor):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))

def get_inputs():
    return [torch.randn(3, 8)]

def get_init_inputs():
    return [8]
