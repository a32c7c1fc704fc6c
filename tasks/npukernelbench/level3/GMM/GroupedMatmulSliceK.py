"""One product for each group of the inner dim: group i goes from groupList[i - 1] to groupList[i].
a lies k by m in memory, whatever its shape says; the products follow one another.

in   a         f16
in   b         f16
in   groupList i64
out  c         f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, groupList):
        columns = a.flatten().view(a.shape[1], a.shape[0])
        place, first = torch.arange(a.shape[1]).unsqueeze(1), 0
        result = []
        for i in range(groupList.shape[0]):
            inside = (place >= first) & (place < groupList[i])
            part = torch.where(inside, columns, torch.zeros_like(columns))
            result.append(torch.matmul(part.float().t(), b.float()).to(a.dtype).flatten())
            first = groupList[i]
        return torch.cat(result)


def get_inputs(case):
    m, k, n, dtype = case["m"], case["k"], case["n"], getattr(torch, case["dtype"])
    ends = torch.sort(torch.randint(0, k + 1, (case["groupCount"],)))[0]
    return [torch.rand(m, k, dtype=dtype) * 2 - 1, torch.rand(k, n, dtype=dtype) * 2 - 1, ends]
