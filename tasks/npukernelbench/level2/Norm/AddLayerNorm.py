"""Layer norm over the last dims of x = x1 + x2 (+ bias), in float32: the result, mean and
reciprocal deviation, and with additional_output x itself.

in   x1                f32*2 f16 bf16 f16 bf16 f16 bf16 f32
in   x2                f16 bf16 f32*2 f16 bf16 f16 bf16 f32
in   gamma             f32*6 f16 bf16 f32
in   beta              f32*6 f16 bf16 f32
opt  bias              f32*4 f16 bf16 f16 bf16 f32
out  y                 f32*4 f16 bf16 f16 bf16 f32
out  mean              f32*9
out  rstd              f32*9
out  x                 f32*4 f16 bf16 f16 bf16 f32
attr epsilon           float 1e-5
attr additional_output bool False
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, gamma, beta, bias, epsilon, additional_output):
        dims = list(range(x1.dim() - gamma.dim(), x1.dim()))
        x = x1.float() + x2.float()
        if bias is not None:
            x = x + bias
        mean = x.mean(dim=dims, keepdim=True)
        rstd = torch.rsqrt((x - mean).pow(2).mean(dim=dims, keepdim=True) + epsilon)
        y = nn.functional.layer_norm(x, gamma.shape, gamma.float(), beta.float(), epsilon)
        kind = x1.dtype if x1.dtype == x2.dtype else torch.float32
        return y.to(kind), mean, rstd, x.to(kind) if additional_output else None


def get_inputs(case):
    shape, norm, dtype = case["shape"], case["norm"], getattr(torch, case["dtype"])
    sizes = {"present": shape, "broadcast": norm}
    bias = torch.rand(sizes[case["bias"]], dtype=dtype) if case["bias"] else None
    return [torch.rand(shape, dtype=dtype), torch.rand(shape, dtype=dtype),
            torch.rand(norm, dtype=dtype),
            torch.rand(norm, dtype=dtype), bias, case["epsilon"], case["extra"]]
