import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass, field
@dataclass
class Cfg:
    width: int = 5
    scale: float = 2.0
    shift: float = field(default=0.5)
    dims: list = field(default_factory=lambda: [1, 2])

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cfg = Cfg(width=5, scale=1.5)
        self.lin = nn.Linear(self.cfg.width, self.cfg.dims[1])
    def forward(self, x):
        return self.lin(x) * self.cfg.scale + self.cfg.shift

def get_inputs():
    return [torch.randn(3, 5)]

def get_init_inputs():
    return []
