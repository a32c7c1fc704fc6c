"""The product p of three operands, normalised over dim 1: beta + gamma / sqrt(variance + add_y) *
(p - mean).

in   mul0_input0 f16 f32 bf16
in   mul0_input1 f16 f32 bf16
in   mul1_input0 f16 f32 bf16
in   add_y       f16 f32 bf16
in   gamma       f16 f32 bf16
in   beta        f16 f32 bf16
out  output      f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, mul0_input0, mul0_input1, mul1_input0, add_y, gamma, beta):
        p = mul0_input0 * mul0_input1 * mul1_input0
        mean = torch.mean(p, dim=1, keepdim=True)
        variance = torch.mean((p - mean) * (p - mean), dim=1, keepdim=True)
        slope = gamma / torch.sqrt(variance + add_y)
        return beta - slope * mean + slope * p


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    return [torch.rand(shape, dtype=dtype), torch.rand(shape, dtype=dtype),
            torch.tensor(1.0, dtype=dtype), torch.tensor(1.0, dtype=dtype),
            torch.rand(1, shape[1], dtype=dtype), torch.rand(1, shape[1], dtype=dtype)]
