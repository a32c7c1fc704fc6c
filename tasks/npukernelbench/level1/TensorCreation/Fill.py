"""A tensor of size dims, each element of which is value.

in   dims  i64*7
in   value f16 f32 i32 i8 i64 bf16 bool
out  y     f16 f32 i32 i8 i64 bf16 bool
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, dims, value):
        return torch.full(dims.tolist(), value.item(), dtype=value.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.tensor(case["dims"]), torch.tensor(case["value"]).to(dtype)]
