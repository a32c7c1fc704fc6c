import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    @staticmethod
    def norm(t, *, eps):
        return t / (t.norm(p=2, dim=-1, keepdim=True).clamp(min=eps))
    def rot(self, n):
        m = torch.eye(n)
        m[0, 0] = m[1, 1] = 0.6
        m[0, 1], m[1, 0] = -0.8, 0.8
        return m
    def forward(self, x):
        return Model.norm(x, eps=1e-5) @ self.rot(x.shape[-1])

def get_inputs():
    return [torch.randn(3, 5)]

def get_init_inputs():
    return []
