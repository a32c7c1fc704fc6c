"""Group norm over groups of channels, then t * sigmoid(swish_scale * t) if asked for, in float32.

in   x              f16 f32 f16
in   gamma          f16 f32*2
in   beta           f16 f32*2
out  y              f16 f32 f16
out  mean           f16 f32*2
out  rstd           f16 f32*2
attr num_groups     int
attr data_format    text NCHW
attr eps            float 1e-5
attr activate_swish bool True
attr swish_scale    float 1.0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, gamma, beta, num_groups, eps, activate_swish, swish_scale):
        batch, channels = x.shape[0], x.shape[1]
        parts = x.float().reshape(batch, num_groups, -1)
        mean = parts.mean(dim=2, keepdim=True)
        rstd = torch.rsqrt((parts - mean).pow(2).mean(dim=2, keepdim=True) + eps)
        rank = [1, channels] + [1] * (x.dim() - 2)
        t = ((parts - mean) * rstd).reshape(x.shape)
        t = t * gamma.float().view(rank) + beta.float().view(rank)
        if activate_swish:
            t = t * torch.sigmoid(swish_scale * t)
        return t.to(x.dtype), mean.squeeze(2).to(gamma.dtype), rstd.squeeze(2).to(gamma.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype) * 2 - 1, torch.rand(case["gamma"], dtype=dtype),
            torch.rand(case["beta"], dtype=dtype), case["groups"], case["eps"], case["swish"],
            case["scale"]]
