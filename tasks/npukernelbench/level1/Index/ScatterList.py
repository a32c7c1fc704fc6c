"""Writes the first indice[i, 1] slices of updates[i] along dim `axis` into var[i] from position
indice[i, 0] on, where mask[i] is set. The tensors change in place.

list var     i8 i16 i32 u8 u16 u32 f16 bf16 f32 i8 i16 i32 u8 u16 u32 f16 bf16 f32
in   indice  i32*9 i64*9
in   updates i8 i16 i32 u8 u16 u32 f16 bf16 f32 i8 i16 i32 u8 u16 u32 f16 bf16 f32
opt  mask    u8*18
outs var     i8 i16 i32 u8 u16 u32 f16 bf16 f32 i8 i16 i32 u8 u16 u32 f16 bf16 f32
attr reduce  text update
attr axis    int -2
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, var, indice, updates, mask, reduce, axis):
        result = []
        for i, old in enumerate(var):
            place = torch.arange(old.shape[axis]) - indice[i, 0]
            inside = (place >= 0) & (place < indice[i, 1])
            last = updates[i].shape[axis] - 1
            source = torch.index_select(updates[i], axis, place.clamp(0, last))
            rank = [1] * old.dim()
            rank[axis] = -1
            result.append(torch.where(inside.view(rank) & (mask[i] != 0), source, old))
        return result


def get_inputs(case):
    dtype, axis, count = getattr(torch, case["dtype"]), case["axis"], case["updates"][0]
    room = case["updates"][axis]
    length = torch.randint(1, room + 1, (count, 1))
    start = (torch.rand(count, 1) * (room - length + 1)).long()
    return [[torch.randn(shape, dtype=dtype) for shape in case["shapes"]],
            torch.cat([start, length], dim=1), torch.randn(case["updates"], dtype=dtype),
            torch.tensor(case["mask"]).to(torch.uint8), case["reduce"], axis]
