"""x = x1 + x2 over its root mean square, times gamma, in float32; the result as float32 and in the
type of the inputs.

in   x1      f16 bf16
in   x2      f16 bf16
in   gamma   f16 bf16
out  y1      f32*2
out  y2      f16 bf16
out  rstd    f32*2
out  x       f16 bf16
attr epsilon float 1e-6
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, gamma, epsilon):
        x = x1.float() + x2.float()
        rstd = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + epsilon)
        y = x * rstd * gamma
        return y, y.to(x1.dtype), rstd, x.to(x1.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype), torch.rand(case["shape"], dtype=dtype),
            torch.rand(case["gamma"], dtype=dtype), case["epsilon"]]
