"""The gradient of x * rstd * gamma, with rstd the reciprocal of the root mean square of x over the
last dim, by x and gamma.

in   dy     f16 bf16 f16 f32 bf16
in   x      f16 bf16 f16 f32 bf16
in   rstd   f32*5
in   gamma  f32*2 f16 f32 bf16
out  dx     f16 bf16 f16 f32 bf16
out  dgamma f32*5
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dy, x, rstd, gamma):
        dgamma = (dy * x * rstd).sum(dim=list(range(dy.dim() - gamma.dim())))
        shared = (dy * gamma * x * rstd.pow(3)).sum(dim=-1, keepdim=True)
        dx = dy * gamma * rstd - shared * x / x.shape[-1]
        return dx.to(x.dtype), dgamma


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    dy, x = torch.rand(shape, dtype=dtype), torch.rand(shape, dtype=dtype)
    dims = list(range(len(shape) - len(case["gamma"]), len(shape)))
    rstd = torch.rsqrt(x.pow(2).mean(dim=dims, keepdim=True) + case["epsilon"]).float()
    return [dy, x, rstd, torch.rand(case["gamma"])]
