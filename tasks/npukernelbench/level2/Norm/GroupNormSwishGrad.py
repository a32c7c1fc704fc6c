"""The gradient of group norm followed by t * sigmoid(swish_scale * t) by x, gamma and beta, in
float32, from the mean and reciprocal deviation of each group. As in the suite's reference the
slope of the last step is (t - t / (1 + e) + 1) / (1 + e) with e = exp(-swish_scale * t).

in   dy                f32 f16 bf16
in   mean              f32 f16 bf16
in   rstd              f32 f16 bf16
in   x                 f32 f16 bf16
in   gamma             f32 f16 bf16
in   beta              f32 f16 bf16
out  dx                f32 f16 bf16
out  dgamma            f32 f16 bf16
out  dbeta             f32 f16 bf16
attr num_groups        int
attr data_format       text NCHW
attr swish_scale       float 1.0
attr dgamma_is_require bool True
attr dbeta_is_require  bool True
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dy, mean, rstd, x, gamma, beta, num_groups, swish_scale, dgamma_is_require,
                dbeta_is_require):
        batch, channels = x.shape[0], x.shape[1]
        width = channels // num_groups
        shape = [batch, num_groups, width, -1]
        inner, grad = x.float().reshape(shape), dy.float().reshape(shape)
        each = gamma.float().view(1, num_groups, width, 1)
        shift = beta.float().view(1, num_groups, width, 1)
        centre = mean.float().view(batch, num_groups, 1, 1)
        spread = rstd.float().view(batch, num_groups, 1, 1)
        normal = (inner - centre) * spread
        t = normal * each + shift
        e = torch.exp(t * -swish_scale) + 1.0
        d_t = (t - t / e + 1.0) / e * grad
        sums, products = d_t.sum(dim=3), (d_t * normal).sum(dim=3)
        count = float(width * inner.shape[3])
        c1 = (sums * each.squeeze(3)).sum(dim=2).view(batch, num_groups, 1, 1) / count
        c2 = (products * each.squeeze(3)).sum(dim=2).view(batch, num_groups, 1, 1) / count
        dx = spread * (d_t * each - normal * c2 - c1)
        dgamma, dbeta = products.sum(dim=0).flatten(), sums.sum(dim=0).flatten()
        return [dx.reshape(x.shape).to(x.dtype), dgamma.to(x.dtype) if dgamma_is_require else None,
                dbeta.to(x.dtype) if dbeta_is_require else None]


def get_inputs(case):
    shape, groups, dtype = case["shape"], case["groups"], getattr(torch, case["dtype"])
    return [(torch.rand(shape, dtype=dtype) * 2 - 1) * 0.1,
            torch.rand(shape[0], groups, dtype=dtype) * 0.1,
            torch.rand(shape[0], groups, dtype=dtype) * 0.1 + 0.001,
            (torch.rand(shape, dtype=dtype) * 2 - 1) * 0.1,
            torch.rand(shape[1], dtype=dtype) * 0.1 + 0.5,
            torch.rand(shape[1], dtype=dtype) * 0.1, groups, case["scale"], case["dgamma"],
            case["dbeta"]]
