import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import namedtuple
from typing import NamedTuple, Optional, Tuple
P = namedtuple('P', ['x', 'k'])
class Q(NamedTuple):
    a: int
    b: float = 1.0

class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        p = P(x=x, k=2)
        return p.x * p.k + p[0]

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
