"""One int8 product for each group of the inner dim, summed as int32, then times the scales of its
columns and of its rows. a lies k by m in memory, whatever its shape says.

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
        columns = a.flatten().view(a.shape[1], a.shape[0])
        place, first = torch.arange(a.shape[1]).unsqueeze(1), 0
        result = []
        for i in range(groupList.shape[0]):
            inside = (place >= first) & (place < groupList[i])
            part = torch.where(inside, columns, torch.zeros_like(columns))
            total = torch.matmul(part.to(torch.int32).t(), b.to(torch.int32)).float()
            total = total * scale[i].float().unsqueeze(0) * per_token_scale[i].float().unsqueeze(1)
            result.append(total.to(scale.dtype).flatten())
            first = groupList[i]
        return torch.cat(result)


def get_inputs(case):
    m, k, n, groups = case["m"], case["k"], case["n"], case["groupCount"]
    dtype = getattr(torch, case["dtype"])
    return [torch.randint(-16, 17, (m, k), dtype=torch.int8),
            torch.randint(-16, 17, (k, n), dtype=torch.int8),
            torch.rand(groups, n, dtype=dtype), torch.rand(groups, m, dtype=dtype),
            torch.sort(torch.randint(0, k + 1, (groups,)))[0]]
