"""The int8 product of a and b, summed as int32, then times the scales of columns and rows.

in   a               i8
in   b               i8
in   scale           f16
in   per_token_scale f16
out  d               f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, scale, per_token_scale):
        total = torch.matmul(a.to(torch.int32), b.to(torch.int32)).float()
        total = total * scale.float().unsqueeze(0) * per_token_scale.float().unsqueeze(1)
        return total.to(scale.dtype)


def get_inputs(case):
    m, k, n, dtype = case["m"], case["k"], case["n"], getattr(torch, case["dtype"])
    return [torch.randint(-16, 17, (m, k), dtype=torch.int8),
            torch.randint(-16, 17, (k, n), dtype=torch.int8),
            torch.rand(n, dtype=dtype), torch.rand(m, dtype=dtype)]
