"""Rows groupList[i - 1] to groupList[i] of a times matrix i of b.

in   a         f16
in   b         f16
in   groupList i64
out  c         f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, groupList):
        place, first = torch.arange(a.shape[0]).unsqueeze(1), 0
        total = torch.zeros(a.shape[0], b.shape[2])
        for i in range(groupList.shape[0]):
            inside = (place >= first) & (place < groupList[i])
            total = torch.where(inside, torch.matmul(a.float(), b[i].float()), total)
            first = groupList[i]
        return total.to(a.dtype).flatten()


def get_inputs(case):
    m, k, n, groups = case["m"], case["k"], case["n"], case["groupCount"]
    dtype = getattr(torch, case["dtype"])
    ends = torch.sort(torch.cat([torch.randint(0, m + 1, (groups - 1,)), torch.tensor([m])]))[0]
    return [torch.rand(m, k, dtype=dtype) * 2 - 1, torch.rand(groups, k, n, dtype=dtype) * 2 - 1,
            ends]
