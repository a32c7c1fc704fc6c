"""s = sigmoid(x1 * t1), doubled where it is not below t2; the result is s * x2 * t3 with each row
of s laid out as x2.

in   x1  f16
in   x2  f16
out  out f16
attr t1  float 0
attr t2  float 0
attr t3  float 0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, t1, t2, t3):
        s = torch.sigmoid(x1 * t1)
        chosen = torch.where(s < t2, s, 2 * s)
        rows = chosen.reshape(-1, x2[0].numel()) * x2.reshape(1, -1) * t3
        return rows.reshape([x1.shape[0]] + list(x2.shape[1:]))


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["x1"], dtype=dtype), torch.rand(case["x2"], dtype=dtype),
            case["t1"], case["t2"], case["t3"]]
