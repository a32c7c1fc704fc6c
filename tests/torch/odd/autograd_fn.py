import torch
import torch.nn as nn
import torch.nn.functional as F
class MyRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        ctx.k = 2
        return t.clamp(min=0)
    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * (t > 0)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        return MyRelu.apply(x) + MyRelu.apply(y)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
