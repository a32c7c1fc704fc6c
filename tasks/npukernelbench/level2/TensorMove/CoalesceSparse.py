"""Adds up the values of a sparse tensor that have the same indices. indices has one row for each
value; unique_len holds the different flattened indices in order, and unique_indices says which
of them each row is.

in   unique_len     i64*6 i32*6
in   unique_indices i64*6 i32*6
in   indices        i64*3 i32*3 i64*3 i32*3
in   values         f32 i32 f16 f32 i32 f16 f32 i32 f16 f32 i32 f16
out  new_indices    i64*3 i32*3 i64*3 i32*3
out  new_values     f32 i32 f16 f32 i32 f16 f32 i32 f16 f32 i32 f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, unique_len, unique_indices, indices, values):
        count = unique_len.shape[0]
        new_indices = torch.zeros(count, indices.shape[1], dtype=indices.dtype)
        new_indices = new_indices.index_copy(0, unique_indices, indices)
        new_values = torch.zeros([count] + list(values.shape[1:]), dtype=values.dtype)
        return new_indices, new_values.index_add(0, unique_indices, values)


def get_inputs(case):
    dims, count = case["indices"]
    dtype = getattr(torch, case["values_dtype"])
    indices = torch.randint(0, 10, (dims, count), dtype=getattr(torch, case["indices_dtype"])).t()
    keys = torch.zeros(count, dtype=torch.int64)
    for dim in range(dims):
        keys = keys * 10 + indices[:, dim]
    order = torch.sort(keys)[0]
    first = torch.cat([torch.tensor([True]), order[1:] != order[:-1]])
    unique = order[first]
    inverse = (keys.unsqueeze(1) > unique.unsqueeze(0)).sum(1)
    if dtype.is_floating_point:
        values = torch.randn(case["values"], dtype=dtype)
    else:
        values = torch.randint(-100, 100, case["values"], dtype=dtype)
    return [unique, inverse, indices, values]
