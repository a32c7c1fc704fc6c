import torch
import torch.nn as nn
import torch.nn.functional as F
from enum import Enum, IntEnum
class Kind(Enum):
    A = 'relu'
    B = 'tanh'
ACT = {'relu': torch.relu, 'tanh': torch.tanh}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        return ACT[Kind.B.value](x) if Kind['B'] is Kind.B else y

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
