"""Writes input_value over the elements begin:end:strides of var along axes, in place; without axes
along the first dims.

in   var         f16 f32 bf16 i32 i64 f64 i8
in   input_value f16 f32 bf16 i32 i64 f64 i8
in   begin       i64*7
in   end         i64*7
in   strides     i64*7
opt  axes        i64*7
out  var         f16 f32 bf16 i32 i64 f64 i8
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, var, input_value, begin, end, strides, axes):
        places = [slice(None)] * var.dim()
        dims = range(var.dim()) if axes is None or axes.numel() == 0 else axes.tolist()
        for dim, first, last, step in zip(dims, begin.tolist(), end.tolist(), strides.tolist()):
            places[dim] = slice(first, last, step)
        result = var.clone()
        result[tuple(places)] = input_value
        return result


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["var"]).to(dtype), torch.rand(case["value"]).to(dtype)] + [
        torch.tensor(case[name], dtype=torch.int64) for name in ("begin", "end", "strides", "axes")]
