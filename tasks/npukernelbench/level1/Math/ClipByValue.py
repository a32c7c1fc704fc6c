"""x limited to what lies between clip_value_min and clip_value_max.

in   x              f32 f16 i32
in   clip_value_min f32 f16 i32
in   clip_value_max f32 f16 i32
out  y              f32 f16 i32
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, clip_value_min, clip_value_max):
        return torch.clamp(x, min=clip_value_min, max=clip_value_max)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype == torch.int32:
        return [torch.randint(1, 10, shape, dtype=dtype), torch.randint(1, 3, (1,), dtype=dtype),
                torch.randint(4, 10, (1,), dtype=dtype)]
    return [torch.rand(shape, dtype=dtype) * 9 + 1, torch.rand(1, dtype=dtype) * 2 + 1,
            torch.rand(1, dtype=dtype) * 6 + 4]
