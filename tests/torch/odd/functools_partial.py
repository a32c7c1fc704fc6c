import torch
import torch.nn as nn
import torch.nn.functional as F
from functools import partial, reduce, lru_cache
import operator, math, itertools
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        act = partial(F.leaky_relu, negative_slope=0.3)
        red = reduce(lambda a, b: a + b, [x, y, x])
        return act(red)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
