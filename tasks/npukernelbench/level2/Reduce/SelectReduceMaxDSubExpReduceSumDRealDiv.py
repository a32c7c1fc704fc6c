"""Softmax over the last dim of input1 where sel is set, of input2 elsewhere.

in   sel    bool*3
in   input1 f16 f32 bf16
in   input2 f16 f32 bf16
out  ouput  f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, sel, input1, input2):
        chosen = input1 * sel + input2 * ~sel
        e = torch.exp(chosen - torch.amax(chosen, dim=-1, keepdim=True))
        return e / torch.sum(e, dim=-1, keepdim=True)


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.randint(0, 2, shape, dtype=torch.bool), torch.randn(shape, dtype=dtype),
            torch.randn(shape, dtype=dtype)]
