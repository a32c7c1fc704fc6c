"""Layer norm over the last dim of alpha * x + gx, in float32: mean, reciprocal deviation, result.

in   x       f16 f32 bf16
in   gx      f16 f32 bf16
in   beta    f16 f32 bf16
in   gamma   f16 f32 bf16
out  mean    f32*3
out  rstd    f32*3
out  y       f16 f32 bf16
attr alpha   float 0.3
attr epsilon float 1e-6
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, gx, beta, gamma, alpha, epsilon):
        total = x.float() * alpha + gx.float()
        mean = total.mean(-1, keepdim=True)
        far = total - mean
        rstd = torch.rsqrt(far.pow(2).mean(-1, keepdim=True) + epsilon)
        return mean, rstd, (gamma.float() * far * rstd + beta.float()).to(x.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype), torch.rand(case["shape"], dtype=dtype),
            torch.rand(case["norm"], dtype=dtype), torch.rand(case["norm"], dtype=dtype),
            case["alpha"], case["epsilon"]]
