"""For each entry b of batch_dim, the first seq_lengths[b] slices along seq_dim in reverse order;
the rest as it is.

in   x           f16 f32 i8 u8 i16 u16 i32 i64 bool c64 f16 f32 i8 u8 i16 u16 i32 i64 bool c64
in   seq_lengths i32*10 i64*10
out  y           f16 f32 i8 u8 i16 u16 i32 i64 bool c64 f16 f32 i8 u8 i16 u16 i32 i64 bool c64
attr seq_dim     int
attr batch_dim   int 0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, seq_lengths, seq_dim, batch_dim):
        size = x.shape[seq_dim]
        place = torch.arange(size)
        length = seq_lengths.unsqueeze(1)
        source = torch.where(place < length, length - 1 - place, place)
        rank = [1] * x.dim()
        rank[batch_dim], rank[seq_dim] = x.shape[batch_dim], size
        source = source if batch_dim < seq_dim else source.t()
        return torch.gather(x, seq_dim, source.reshape(rank).expand(x.shape))


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype.is_floating_point:
        x = torch.randn(shape, dtype=dtype)
    else:
        x = torch.randint(0, 100, shape, dtype=dtype)
    return [x, torch.randint(1, shape[case["seq"]] + 1, (shape[case["batch"]],)), case["seq"],
            case["batch"]]
