"""The numbers from start, step apart, up to but without end.

in   start f32 f16 i32 i64 bf16
in   end   f32 f16 i32 i64 bf16
in   step  f32 f16 i32 i64 bf16
out  out   f32 f16 i32 i64 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, start, end, step):
        return torch.arange(start.item(), end.item(), step.item()).to(start.dtype)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.tensor(case[name], dtype=dtype) for name in ("start", "end", "step")]
