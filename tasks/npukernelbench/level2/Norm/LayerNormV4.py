"""Layer norm over the last dims, which normalized_shape lists, in float32: the result, mean and
reciprocal deviation.

in   x                f32 f16*2 bf16*2
in   normalized_shape i32*5
opt  gamma            f32*2 f16 f32 bf16
opt  beta             f32*2 f16 f32 bf16
out  y                f32 f16*2 bf16*2
out  mean             f32*5
out  rstd             f32*5
attr epsilon          float 1e-5
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, normalized_shape, gamma, beta, epsilon):
        dims = list(range(x.dim() - normalized_shape.shape[0], x.dim()))
        wide = x.float()
        mean = wide.mean(dim=dims, keepdim=True)
        rstd = torch.rsqrt((wide - mean).pow(2).mean(dim=dims, keepdim=True) + epsilon)
        y = (wide - mean) * rstd
        if gamma is not None:
            y = y * gamma.float()
        if beta is not None:
            y = y + beta.float()
        return y.to(x.dtype), mean, rstd


def get_inputs(case):
    norm, dtype = case["norm"], getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype), torch.tensor(norm, dtype=torch.int32),
            torch.rand(norm, dtype=dtype) if case["weight"] == "present" else None,
            torch.rand(norm, dtype=dtype) if case["bias"] == "present" else None, case["epsilon"]]
