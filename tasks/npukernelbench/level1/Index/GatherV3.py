"""The slices of x along dim `axis` that `indices` names.

in   x                    f32 f16 bf16 i16 i32 i64 i8 bool u16 u32 u64 u8 f32 f16 bf16 i16 i32 i64 i8 bool u16 u32 u64 u8
in   indices              i32*12 i64*12
in   axis                 i64*24
out  y                    f32 f16 bf16 i16 i32 i64 i8 bool u16 u32 u64 u8 f32 f16 bf16 i16 i32 i64 i8 bool u16 u32 u64 u8
attr batchDims            int 0
attr negativeIndexSupport bool False
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, indices, axis):
        return torch.index_select(x, axis.item(), indices)


def get_inputs(case):
    shape, axis = case["shape"], case["axis"]
    return [torch.randn(shape).to(getattr(torch, case["dtype"])),
            torch.randint(0, shape[axis], case["indices"]), torch.tensor(axis)]
