"""The k largest (or least) elements along dim, in order, and where they are. Which of two equal
elements comes first is not said, so no two along dim are equal here.

in   x       f16
in   k       i32
out  values  f16
out  indices i32
attr sorted  bool True
attr dim     int -1
attr largest bool True
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, k, sorted, dim, largest):
        values, indices = torch.topk(x, int(k.item()), dim=dim, largest=largest, sorted=sorted)
        return values, indices.to(torch.int32)


def get_inputs(case):
    shape, dim = case["shape"], case["dim"]
    order = torch.argsort(torch.randn(shape), dim=dim) - shape[dim] // 2
    x = order.to(getattr(torch, case["dtype"]))
    return [x, torch.tensor([case["k"]], dtype=torch.int32), case["sorted"], dim, case["largest"]]
