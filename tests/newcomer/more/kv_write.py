import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def forward(self, cache, new, pos):
        out = cache.clone()
        out[torch.arange(cache.size(0)), :, pos] = new
        return out

def get_inputs():
    return [torch.randn(4, 8, 64, 32), torch.randn(4, 8, 32), torch.tensor([3, 0, 63, 17])]

def get_init_inputs():
    return []
