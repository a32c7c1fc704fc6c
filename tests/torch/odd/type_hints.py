import torch
import torch.nn as nn
import torch.nn.functional as F
# import annotations
from typing import Optional, List, Dict, Union, Callable, Any
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x: torch.Tensor, y: 'Optional[torch.Tensor]' = None):
        def inner(a: 'torch.Tensor', *, k: int = 2) -> torch.Tensor:
            return a * k
        out: torch.Tensor = inner(x, k=3)
        return out

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
