import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        a, b = x.chunk(2, dim=-1)[:2] if x.shape[-1] % 2 == 0 else (x[..., :2], x[..., 2:4])
        q, k, v = map(lambda t: t.reshape(3, -1), (a, b, a * b))
        (q, k), v = (q + 1, k), v
        return q @ k.T, *[v, v * 2]

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
