"""Dequantises int32 x by weight_scale and activation_scale (after adding bias), halves it along
the last dim, takes silu of one half times the other, and quantises to int8: with quant_scale
and quant_offset ("static") or by the largest magnitude of each row ("dynamic"). Rows belong to
groups of group_index sizes, each with its own scales. scale is 0 in static mode.

in   x                bf16 f16 i32*5
opt  weight_scale     f32*7
opt  activation_scale f32*7
opt  bias             f32*2 f16 bf16 f32 i32 f32
opt  quant_scale      f32*6 f16
opt  quant_offset     f32*7
opt  group_index      i32*6 i64
out  y                i8*7
out  scale            f32*7
attr activate_left    bool False
attr quant_mode       text static
"""
import torch
import torch.nn as nn


def group_of_rows(group_index, rows):
    ends = torch.cumsum(group_index, 0)
    past = torch.arange(rows).unsqueeze(1) >= ends.unsqueeze(0)
    return past.sum(1).clamp(max=ends.shape[0] - 1)


class Model(nn.Module):
    def forward(self, x, weight_scale, activation_scale, bias, quant_scale, quant_offset,
                group_index, activate_left, quant_mode):
        rows = x.shape[0]
        group = torch.zeros(rows, dtype=torch.int64)
        if group_index is not None:
            group = group_of_rows(group_index, rows)
        wide = x.float()
        if x.dtype == torch.int32:
            if bias is not None:
                wide = wide + bias
            wide = wide * weight_scale[group]
            if activation_scale is not None:
                wide = wide * activation_scale
        a, b = torch.chunk(wide, 2, dim=-1)
        y = nn.functional.silu(a) * b if activate_left else nn.functional.silu(b) * a
        if quant_mode == "static":
            y = y / quant_scale[group] + quant_offset[group]
            scale = torch.zeros(rows)
        else:
            y = y * quant_scale[group]
            largest = y.abs().amax(dim=-1)
            scale = largest / 127
            y = y * (127 / largest).unsqueeze(1)
        return y.clamp(-128, 127).round().to(torch.int8), scale


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    rows, width = shape
    if dtype.is_floating_point:
        x = torch.rand(shape, dtype=dtype)
    else:
        x = torch.randint(-100, 100, shape, dtype=dtype)
    count = case["count"] if case["groups"] else 1
    group_index = None
    if case["groups"]:
        cuts = torch.cat([torch.randint(0, rows + 1, (count - 1,)), torch.tensor([rows])])
        ends = torch.sort(cuts)[0]
        group_index = torch.diff(torch.cat([torch.tensor([0]), ends])).to(torch.int32)
    return [x, torch.rand(count, width) if case["weight_scale"] else None,
            torch.rand(rows, 1) if case["activation_scale"] else None,
            torch.randint(-10, 10, (width,), dtype=torch.int32) if case["bias"] else None,
            torch.rand(count, width // 2) + 0.01,
            torch.rand(count, width // 2) if case["mode"] == "static" else None,
            group_index, case["left"], case["mode"]]
