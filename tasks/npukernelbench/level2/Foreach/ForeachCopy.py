"""A copy of every tensor of the list.

list x f16 f32 i32 bf16 i8 u8 i16 u16 u32 f64 bool i64
outs y f16 f32 i32 bf16 i8 u8 i16 u16 u32 f64 bool i64
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return [t.clone() for t in x]


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[torch.rand(shape, dtype=dtype) * 10 + 1 for shape in case["shapes"]]]
