import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        with torch.no_grad(), torch.set_grad_enabled(False):
            s = x.std(dim=-1, keepdim=True)
        assert x.ndim == 3 and s.shape[-1] == 1, 'shape'
        print('hello', x.shape, end='')
        return (x - x.mean(-1, True)) / (s + 1e-5)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
