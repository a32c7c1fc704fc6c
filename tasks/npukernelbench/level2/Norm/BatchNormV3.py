"""Batch norm over all dims but the second, with the statistics of the batch; in training the
running ones move by momentum, in place. The deviation is that of the whole batch.

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
        wide = x.float()
        mean = wide.mean(dim=dims, keepdim=True)
        variance = (wide - mean).pow(2).mean(dim=dims, keepdim=True)
        rstd = torch.rsqrt(variance + epsilon)
        y = (wide - mean) * rstd * weight.float().view(rank) + bias.float().view(rank)
        if is_training:
            running_mean = (1 - momentum) * running_mean + momentum * mean.flatten()
            running_var = (1 - momentum) * running_var + momentum * variance.flatten()
        return y.to(x.dtype), running_mean, running_var, mean.flatten(), rstd.flatten()


def get_inputs(case):
    dtype, features = getattr(torch, case["dtype"]), case["features"]
    if case["affine"]:
        weight, bias = torch.rand(features).to(dtype), torch.rand(features).to(dtype)
    else:
        weight, bias = torch.ones(features, dtype=dtype), torch.zeros(features, dtype=dtype)
    return [torch.rand(case["shape"], dtype=dtype), weight, bias, torch.rand(features),
            torch.rand(features) + 0.001, case["epsilon"], case["momentum"], case["training"]]
