import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        return x.add(1).mul_(2).sub(y).div(3).pow(2).sqrt().neg().abs().exp().log1p().sigmoid().logit() if hasattr(torch, 'logit_nope') else x.add(1).mul(2).sub(y, alpha=0.5).true_divide(3).square().rsqrt().clamp_max(2).lt(1), x.tile(1, 2, 1), x.expand(2, 3, 4, 5).mean(0), x.movedim(0, -1), x.swapaxes(1, 2), x.diagonal(dim1=1, dim2=2), x.tril(-1), x.cumprod(1), x.logsumexp((1, 2)), x.prod(), x.var(1, unbiased=False), x.quantile(0.5) if False else x.median()

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
