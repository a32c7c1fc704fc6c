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
        size = x.numel() // (batch * channels)
        t, mean, rstd = torch.ops.aten.native_group_norm(
            x.float(), gamma.float(), beta.float(), batch, channels, size, num_groups, eps)
        if activate_swish:
            t = t * torch.sigmoid(swish_scale * t)
        return t.to(x.dtype), mean.to(gamma.dtype), rstd.to(gamma.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype) * 2 - 1, torch.rand(case["gamma"], dtype=dtype),
            torch.rand(case["beta"], dtype=dtype), case["groups"], case["eps"], case["swish"],
            case["scale"]]
