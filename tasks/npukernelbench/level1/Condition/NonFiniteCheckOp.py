"""1 when any element of any tensor is infinite or NaN, else 0.

list tensor_list bf16 f16 f32
out  found_flag  f32*3
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, tensor_list):
        found = torch.stack([(~torch.isfinite(x)).any() for x in tensor_list])
        return found.any().to(torch.float32)


def get_inputs(case):
    xs = [torch.rand(shape).to(getattr(torch, case["dtype"])) for shape in case["shapes"]]
    if case["bad"]:
        for k, x in enumerate(xs):
            x.view(-1)[0] = float("nan") if k % 2 else float("inf")
            x.view(-1)[x.numel() - 1] = -float("inf")
    return [xs]
