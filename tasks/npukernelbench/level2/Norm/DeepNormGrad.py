"""The gradient of layer norm of alpha * x + gx by x, gx, beta and gamma, in float32.

in   dy     f32 f16 bf16
in   x      f32 f16 bf16
in   gx     f32 f16 bf16
in   gamma  f32 f16 bf16
in   mean   f32*3
in   rstd   f32*3
out  dx     f32 f16 bf16
out  dgx    f32 f16 bf16
out  dbeta  f32*3
out  dgamma f32*3
attr alpha  float 0.3
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dy, x, gx, gamma, mean, rstd, alpha):
        dims = list(range(x.dim() - gamma.dim(), x.dim()))
        outer = list(range(x.dim() - gamma.dim()))
        grad, count = dy.float(), float(gamma.numel())
        part = grad * gamma.float()
        far = alpha * x.float() + gx.float() - mean
        d_var = torch.sum(-0.5 * part * far * rstd.pow(3), dim=dims, keepdim=True)
        d_mean = torch.sum(-1.0 * part * rstd, dim=dims, keepdim=True)
        dgx = part * rstd + 2.0 / count * d_var * far + 1.0 / count * d_mean
        dbeta, dgamma = torch.sum(grad, dim=outer), torch.sum(grad * rstd * far, dim=outer)
        return (alpha * dgx).to(x.dtype), dgx.to(gx.dtype), dbeta, dgamma


def get_inputs(case):
    shape, norm, dtype = case["shape"], case["norm"], getattr(torch, case["dtype"])
    dy, x, gx = [torch.rand(shape, dtype=dtype) for _ in range(3)]
    dims = list(range(len(shape) - len(norm), len(shape)))
    total = x.float() * case["alpha"] + gx.float()
    mean = total.mean(dim=dims, keepdim=True)
    rstd = torch.rsqrt((total - mean).pow(2).mean(dim=dims, keepdim=True) + case["epsilon"])
    return [dy, x, gx, torch.rand(norm, dtype=dtype), mean, rstd, case["alpha"]]
