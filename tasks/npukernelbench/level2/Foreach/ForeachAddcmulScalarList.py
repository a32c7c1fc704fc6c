"""a + s * b * c for every three tensors of three lists, s from a list of scalars; bfloat16 in
float32, rounded at the end.

list x1      f16 f32 i32 bf16
list x2      f16 f32 i32 bf16
list x3      f16 f32 i32 bf16
in   scalars f16 f32 i32 bf16
outs y       f16 f32 i32 bf16
"""
import torch
import torch.nn as nn


def draw(shape, dtype):
    if dtype == torch.int32:
        return torch.randint(-100, 100, shape, dtype=dtype)
    return torch.rand(shape, dtype=dtype)


class Model(nn.Module):
    def forward(self, x1, x2, x3, scalars):
        result = []
        for a, b, c, s in zip(x1, x2, x3, scalars):
            wide = torch.float32 if a.dtype == torch.bfloat16 else a.dtype
            result.append((a.to(wide) + s.to(wide) * b.to(wide) * c.to(wide)).to(a.dtype))
        return result


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [[draw(shape, dtype) for shape in case["shapes"]],
            [draw(shape, dtype) for shape in case["shapes"]],
            [draw(shape, dtype) for shape in case["shapes"]],
            torch.tensor(case["scalars"], dtype=dtype)]
