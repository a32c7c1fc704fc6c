"""Row i of feeds feeds_repeat_times[i] times, then rows of 0 up to output_feeds_size rows.

in   feeds              f16*2 f32*2 bf16*2
in   feeds_repeat_times i32 i64 i32 i64 i32 i64
out  y                  f16*2 f32*2 bf16*2
attr output_feeds_size  int
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, feeds, feeds_repeat_times, output_feeds_size):
        ends = torch.cumsum(feeds_repeat_times, 0)
        row = torch.arange(output_feeds_size)
        source = (row.unsqueeze(1) >= ends.unsqueeze(0)).sum(1)
        rows = torch.index_select(feeds, 0, source.clamp(max=feeds.shape[0] - 1))
        used = (row < ends[-1]).view([-1] + [1] * (feeds.dim() - 1))
        return torch.where(used, rows, torch.zeros_like(rows))


def get_inputs(case):
    return [torch.randn(case["feeds"], dtype=getattr(torch, case["dtype"])),
            torch.randint(0, 10, case["times"], dtype=getattr(torch, case["times_dtype"])),
            case["size"]]
