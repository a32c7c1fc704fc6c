"""The gradient of layer norm of x1 + x2 by that sum (plus dsum), gamma and beta, in float32.

in   dy     f32 f16 bf16
in   x1     f32 f16 bf16
in   x2     f32 f16 bf16
in   rstd   f32*3
in   mean   f32*3
in   gamma  f32 f16 bf16
opt  dsum   f32 f16 bf16
out  dx     f32 f16 bf16
out  dgamma f32*3
out  dbeta  f32*3
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dy, x1, x2, rstd, mean, gamma, dsum):
        dims = list(range(x1.dim() - gamma.dim(), x1.dim()))
        outer = list(range(x1.dim() - gamma.dim()))
        grad, count = dy.float(), float(gamma.numel())
        far = x1.float() + x2.float() - mean
        part = grad * gamma.float()
        d_var = torch.sum(-0.5 * part * far * torch.pow(rstd, 3), dim=dims, keepdim=True)
        d_mean = torch.sum(-1.0 * part * rstd, dim=dims, keepdim=True)
        d_mean = d_mean + d_var * (-2.0 / count) * torch.sum(far, dim=dims, keepdim=True)
        dx = part * rstd + (d_var * (2.0 / count) * far + d_mean * (1.0 / count))
        if dsum is not None:
            dx = dx + dsum.float()
        return dx.to(dy.dtype), torch.sum(grad * far * rstd, dim=outer), torch.sum(grad, dim=outer)


def get_inputs(case):
    shape, norm, dtype = case["shape"], case["norm"], getattr(torch, case["dtype"])
    dy, x1, x2 = [torch.rand(shape, dtype=dtype) for _ in range(3)]
    dims = list(range(len(shape) - len(norm), len(shape)))
    x = x1.float() + x2.float()
    mean = x.mean(dim=dims, keepdim=True)
    rstd = torch.rsqrt((x - mean).pow(2).mean(dim=dims, keepdim=True) + 1e-5)
    dsum = torch.rand(shape, dtype=dtype) if case["dsum"] == "present" else None
    return [dy, x1, x2, rstd, mean, torch.rand(norm, dtype=dtype), dsum]
