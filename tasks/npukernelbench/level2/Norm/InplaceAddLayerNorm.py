"""Layer norm over the last dim of x1 + x2 (+ bias), in float32, written over x1; with
additional_output the sum is written over x2, else x2 stays as it is.

in   x1                f16 bf16 f32
in   x2                f16 bf16 f32
in   gamma             f16 bf16 f32
in   beta              f16 bf16 f32
opt  bias              f16 bf16 f32
out  x1                f16 bf16 f32
out  mean              f32*3
out  rstd              f32*3
out  x2                f16 bf16 f32
attr epsilon           float 1e-5
attr additional_output bool False
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, gamma, beta, bias, epsilon, additional_output):
        total = x1.float() + x2.float()
        if bias is not None:
            total = total + bias.float()
        mean = total.mean(dim=-1, keepdim=True)
        rstd = torch.rsqrt(total.var(dim=-1, keepdim=True, unbiased=False) + epsilon)
        y = (total - mean) * rstd * gamma + beta
        return y.to(x1.dtype), mean, rstd, total.to(x2.dtype) if additional_output else x2.clone()


def get_inputs(case):
    shape, norm, dtype = case["shape"], case["norm"], getattr(torch, case["dtype"])
    sizes = {"present": shape, "broadcast": norm}
    bias = torch.rand(sizes[case["bias"]], dtype=dtype) if case["bias"] else None
    return [torch.rand(shape, dtype=dtype), torch.rand(shape, dtype=dtype),
            torch.rand(norm, dtype=dtype),
            torch.rand(norm, dtype=dtype), bias, case["epsilon"], case["extra"]]
