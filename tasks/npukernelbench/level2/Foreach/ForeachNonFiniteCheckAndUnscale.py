"""Multiplies every gradient by inv_scale, in place, and sets found_inf to 1 when any element is
infinite or NaN, else to 0. With inv_scale 0 the gradients become 0.

list scaled_grads f16 bf16 f32
in   found_inf    f32*3
in   inv_scale    f32*3
mut  scaled_grads f16 bf16 f32
mut  found_inf    f32*3
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, scaled_grads, found_inf, inv_scale):
        bad = torch.stack([(~torch.isfinite(g)).any() for g in scaled_grads]).any()
        zero = inv_scale == 0
        grads = [torch.where(zero, 0.0, g.float() * inv_scale).to(g.dtype) for g in scaled_grads]
        return grads, bad.to(torch.float32).reshape(1)


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    grads = [torch.rand(shape, dtype=dtype) * 0.01 for shape in case["shapes"]]
    if case["bad"]:
        for k, g in enumerate(grads):
            g.view(-1)[0] = float("inf") if k % 2 else float("nan")
    return [grads, torch.zeros(1), torch.tensor([case["inv_scale"]])]
