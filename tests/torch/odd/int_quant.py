import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        scale = x.abs().amax(-1, keepdim=True) / 127.0
        q = torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)
        w = (y * 10).to(torch.int8)
        acc = q.to(torch.int32) @ w.to(torch.int32).transpose(-1, -2)
        return q, acc.float() * scale

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
