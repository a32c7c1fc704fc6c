"""Batch norm over all dims but the second, with the statistics of the batch, each step in the
type of x; in training the running ones move by momentum, in place. The deviation is that of the
whole batch; mean and reciprocal deviation are given as float32, not rounded to the type of x.

in   x            f32 f16 bf16 f32 f16 bf16 f16 bf16 f16 bf16
in   weight       f32 f16 bf16 f32 f16 bf16 f32*4
in   bias         f32 f16 bf16 f32 f16 bf16 f32*4
in   running_mean f32*10
in   running_var  f32*10
out  y            f32 f16 bf16 f32 f16 bf16 f16 bf16 f16 bf16
out  running_mean f32*10
out  running_var  f32*10
out  save_mean    f32*10
out  save_rstd    f32*10
attr epsilon      float 1e-5
attr momentum     float 0.1
attr is_training  bool True
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight, bias, running_mean, running_var, epsilon, momentum, is_training):
        dims = [0] + list(range(2, x.dim()))
        rank = [1, -1] + [1] * (x.dim() - 2)
        mean = x.mean(dim=dims, keepdim=True)
        variance = (x - mean).pow(2).mean(dim=dims, keepdim=True)
        rstd = torch.rsqrt(variance + epsilon)
        y = (x - mean) * rstd * weight.view(rank) + bias.view(rank)
        if is_training:
            running_mean = (1 - momentum) * running_mean + momentum * mean.flatten()
            running_var = (1 - momentum) * running_var + momentum * variance.flatten()
        save_mean = x.float().mean(dim=dims).flatten()
        return (y.to(x.dtype), running_mean, running_var, save_mean,
                torch.rsqrt((variance + epsilon).float()).flatten())


def get_inputs(case):
    dtype, features = getattr(torch, case["dtype"]), case["features"]
    x = torch.rand(case["shape"], dtype=dtype)
    kind = torch.float16 if dtype == torch.bfloat16 else dtype
    weight, bias = torch.ones(features, dtype=kind), torch.zeros(features, dtype=kind)
    if case["affine"]:
        weight = torch.rand(features, dtype=torch.float16).to(kind)
        bias = torch.rand(features, dtype=torch.float16).to(kind)
    return [x, weight, bias, torch.rand(features), torch.rand(features) + 0.001,
            case["epsilon"], case["momentum"], case["training"]]
