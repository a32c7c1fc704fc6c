"""Rows groupList[i - 1] to groupList[i] of a times matrix i of b, summed as int32, then times the
scales of the group's columns and of the rows.

in   a               i8
in   b               i8
in   scale           bf16
in   per_token_scale bf16
in   groupList       i64
out  c               bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, scale, per_token_scale, groupList):
        place, first = torch.arange(a.shape[0]).unsqueeze(1), 0
        total = torch.zeros(a.shape[0], b.shape[2])
        for i in range(groupList.shape[0]):
            inside = (place >= first) & (place < groupList[i])
            part = torch.matmul(a.to(torch.int32), b[i].to(torch.int32)).float()
            total = torch.where(inside, part * scale[i].float().unsqueeze(0), total)
            first = groupList[i]
        return (total * per_token_scale.float().unsqueeze(1)).to(scale.dtype).flatten()


def get_inputs(case):
    m, k, n, groups = case["m"], case["k"], case["n"], case["groupCount"]
    dtype = getattr(torch, case["dtype"])
    ends = torch.sort(torch.cat([torch.randint(0, m + 1, (groups - 1,)), torch.tensor([m])]))[0]
    return [torch.randint(-16, 17, (m, k), dtype=torch.int8),
            torch.randint(-16, 17, (groups, k, n), dtype=torch.int8),
            torch.rand(groups, n, dtype=dtype), torch.rand(m, dtype=dtype), ends]
