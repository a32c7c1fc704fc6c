"""x = x1 + x2 times the reciprocal of its root mean square over the last dim, times gamma; each
step in the type of the inputs.

in   x1      f16 f32 bf16
in   x2      f16 f32 bf16
in   gamma   f16 f32 bf16
out  y       f16 f32 bf16
out  rstd    f32*3
out  x       f16 f32 bf16
attr epsilon float 1e-6
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, gamma, epsilon):
        x = x1 + x2
        rstd = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + epsilon)
        return x * rstd * gamma, rstd.float(), x


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype), torch.rand(case["shape"], dtype=dtype),
            torch.rand(case["gamma"], dtype=dtype), case["epsilon"]]
