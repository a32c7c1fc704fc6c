import torch
import torch.nn as nn
import torch.nn.functional as F
from abc import ABC, abstractmethod
class B(nn.Module, ABC):
    @abstractmethod
    def op(self, x):
        ...

class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def op(self, x):
        return x.tanh()
    def forward(self, x, y):
        return self.op(x)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
