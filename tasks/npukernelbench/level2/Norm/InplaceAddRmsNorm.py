"""The sum x1 + x2 over its root mean square, times gamma, in float32, written over x1; the sum
itself is written over x2.

in   x1      f16 f32 bf16
in   x2      f16 f32 bf16
in   gamma   f16 f32 bf16
out  x1      f16 f32 bf16
out  rstd    f32*3
out  x2      f16 f32 bf16
attr epsilon float 1e-6
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, gamma, epsilon):
        total = x1.float() + x2.float()
        rstd = torch.rsqrt(total.pow(2).mean(dim=-1, keepdim=True) + epsilon)
        return (total * rstd * gamma).to(x1.dtype), rstd, total.to(x2.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype), torch.rand(case["shape"], dtype=dtype),
            torch.rand(case["norm"], dtype=dtype), case["epsilon"]]
